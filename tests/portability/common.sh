# SPDX-License-Identifier: Apache-2.0
# Sourced by the tests with their arguments: the source folder and the build folder.
set -euo pipefail
source_dir=$1
build_dir=$2
work=$build_dir/portability
model=$work/llama.mote
text_model=$work/text.mote  # made by convert_text.sh

fail() {
  echo "failed: $*" >&2
  exit 1
}

# need TOOL PURPOSE: skips without the tool.
need() {
  if command -v "$1" >/dev/null; then return; fi
  if [ -n "${CI:-}" ]; then fail "$1 is missing"; fi
  echo "skipped: $1 is missing; scripts/install_packages $2 installs it"
  exit 77
}

skip() {
  echo "skipped: $*"
  exit 77
}

# consume NAME BUILD SOURCE [CMAKE OPTION]...: installs a build in $work/NAME/prefix and builds against it what lies in
# the folder SOURCE, in $work/NAME/consumer.
consume() {
  local name=$1 build=$2 source=$3
  shift 3
  rm -rf "$work/$name/prefix" "$work/$name/consumer"
  cmake --install "$build" --prefix "$work/$name/prefix" >/dev/null
  cmake -S "$source_dir/$source" -B "$work/$name/consumer" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -Dmote_DIR="$(dirname "$(find "$work/$name/prefix" -name mote-config.cmake)")" "$@" >/dev/null
  cmake --build "$work/$name/consumer"
}

# same_logits A B: the runner's outputs name the same ids and their logits differ by at most 1e-4.
same_logits() {
  paste -d' ' <(grep '^logit ' "$1") <(grep '^logit ' "$2") | awk '
    NF != 8 || $2 != $6 || $3 != $7 { print "lines differ: " $0; exit 1 }
    { d = $4 - $8; if (d < 0) d = -d; if (!(d <= 1e-4)) { print "logits differ: " $0; exit 1 }; if (d > most) most = d; ++n }
    END { if (!n) { print "no logits"; exit 1 }; printf "%d logits, largest difference %g\n", n, most }'
}

# convert_goldens TYPE...: the golden models, converted here to $work/goldens. Each file has a self test.
convert_goldens() {
  local source type
  mkdir -p "$work/goldens"
  for source in "$source_dir"/tests/golden/models/*; do
    for type in "$@"; do
      "$build_dir/mote" convert "$source" --type $type -o "$work/goldens/$(basename "$source").$type.mote" \
        >"$work/said.txt" 2>&1 || fail "cannot convert $source to $type: $(cat "$work/said.txt")"
    done
  done
}

# build_runner COMPILER BUILD OUTPUT [OPTION]...: the runner, linked with the archives of a build.
build_runner() {
  local compiler=$1 build=$2 output=$3
  shift 3
  "$compiler" -std=c99 -O1 "$@" -I "$source_dir/runtime/include" -I "$source_dir/platforms/posix/include" \
    "$source_dir/tests/portability/consumer/runner.c" "$build"/libmote_{platform,core,platform}.a -lm -pthread -o "$output"
}

# run_goldens NAME COMMAND...: the runner COMMAND passes the self test of every golden model, and its logits in f32 are
# those of this machine's reference kernels.
run_goldens() {
  local name=$1 here=$work/goldens file count=0
  shift
  if [ ! -e "$here/runner" ]; then build_runner cc "$build_dir" "$here/runner"; fi
  for file in "$here"/*.mote; do
    "$@" "$file" >"$here/$name.txt" 2>&1 || fail "$name, $(basename "$file"): $(tail -n 3 "$here/$name.txt")"
    count=$((count + 1))
    case $file in *.f32.mote) ;; *) continue ;; esac
    if [ ! -e "$file.logits" ]; then MOTE_ISA=ref "$here/runner" "$file" >"$file.logits"; fi
    if ! grep -q '^logit ' "$file.logits"; then continue; fi
    same_logits "$file.logits" "$here/$name.txt" >"$here/said.txt" || fail "$name, $(basename "$file"): $(cat "$here/said.txt")"
  done
  [ $count -gt 0 ] || fail "no golden models"
  echo "$name: $count files of golden models pass"
}
