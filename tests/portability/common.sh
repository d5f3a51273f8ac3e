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

# convert_goldens: the golden models in f32, and one in types that round, converted here to $work/goldens. Each file has a
# self test. What a conversion by the same build/mote has left is kept.
convert_goldens() {
  mkdir -p "$work/goldens"
  find "$work/goldens" -type f ! -newer "$build_dir/mote" -delete
  {
    for source in "$source_dir"/tests/golden/models/*; do
      other=$(grep -o -m1 -E '"(vision|audio)_config"' "$source/config.json" | grep -oE 'vision|audio') || other=
      for tower in $other ${other:+text}; do echo "$source" f32 --tower $tower; done
      if [ -z "$other" ]; then echo "$source" f32; fi
    done
    for type in q8g32 q8c q4mg32; do echo "$source_dir/tests/golden/models/bert" $type; done
  } | xargs -P "$(nproc)" -L 1 bash -c 'convert_golden "$@"' _ || fail "cannot convert the golden models"
}

# convert_golden SOURCE TYPE [OPTION VALUE]
convert_golden() {
  local file
  file=$work/goldens/$(basename "$1")${4:+.$4}.$2.mote
  if [ -e "$file" ]; then return; fi
  "$build_dir/mote" convert "$1" --type "$2" -o "$file" "${@:3}" >"$file.txt" 2>&1 || fail "cannot convert $1: $(cat "$file.txt")"
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
  local name=$1
  build_runner cc "$build_dir" "$work/$name.runner"
  ls "$work"/goldens/*.mote | xargs -P "$(nproc)" -I{} bash -c 'run_golden "$@"' _ {} "$@" || fail "$name: not all golden models pass"
  echo "$name: $(ls "$work"/goldens/*.mote | wc -l) files of golden models pass"
}

# run_golden FILE NAME COMMAND...
run_golden() {
  local file=$1 name=$2 out
  out=$work/$name.$(basename "$file").txt
  shift 2
  "$@" "$file" >"$out" 2>&1 || fail "$name, $(basename "$file"): $(tail -n 3 "$out")"
  case $file in *.f32.mote) ;; *) return ;; esac
  MOTE_ISA=ref "$work/$name.runner" "$file" >"$out.here"
  if ! grep -q '^logit ' "$out.here"; then return; fi
  same_logits "$out.here" "$out" >"$out.said" || fail "$name, $(basename "$file"): $(cat "$out.said")"
}
export -f convert_golden run_golden same_logits fail
export work build_dir
