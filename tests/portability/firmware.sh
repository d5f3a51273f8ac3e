#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The firmware of a preset, the third argument, runs models from flash on its board, emulated: it replays their self tests
# and generates this machine's reference ids. What goes wrong, a fault of the processor too, ends the run with a line and
# another exit code than 0. The image takes nothing of the C library that allocates or prints. Prints its sizes.
source "$(dirname "$0")/common.sh" "$@"
preset=$3
need arm-none-eabi-g++ cross
need qemu-system-arm cross
here=$work/$preset
mkdir -p "$here"
firmware=$here/mote_firmware.elf

# build MODEL [CMAKE OPTION]...: makes the firmware with a model. The objects are those of the image before.
build() {
  cp "$1" "$here/model.mote"
  cmake -S "$source_dir" --preset "$preset" -B "$here" -DMOTE_FIRMWARE_MODEL="$here/model.mote" \
    -DMOTE_FIRMWARE_ARENA_BYTES= ${CI:+-DMOTE_WERROR=ON} "${@:2}" >/dev/null
  cmake --build "$here" >"$here/build.txt" || fail "$(cat "$here/build.txt")"
}

# run CODE [IMAGE]: runs an image, which has to end with this exit code; what it printed is then in `said`.
run() {
  local code=0 image=${2:-$firmware}
  said=$(timeout 60 qemu-system-arm -M "$board" -display none -monitor none -serial stdio \
    -semihosting-config enable=on,target=native -kernel "$image" </dev/null) || code=$?
  echo "$said"
  [ "$code" = "$1" ] || fail "$image ended with $code instead of $1 (124: it hangs)"
}

# says PATTERN: the run before printed a line like this.
says() { grep -qE "$1" <<<"$said" || fail "the firmware did not print '$1'"; }

# generates FILE: the ids of the run before are those that the reference kernels generate here.
generates() {
  local expected
  expected=$(MOTE_ISA=ref "$build_dir/mote" run "$1" --ids 1 -n 16 --greedy --json | sed -n 's/.*"output_ids":\[\([0-9,]*\)\].*/\1/p')
  [ -n "$expected" ] || fail "$1 generates nothing here"
  says "^ids: $expected\$"
}

# damage SECTION PLACE BYTES IMAGE: copies the firmware to IMAGE with other bytes at a place of a section.
damage() {
  arm-none-eabi-objcopy --dump-section "$1=$here/section" "$firmware" "$4"
  printf "$3" | dd of="$here/section" bs=1 seek="$2" conv=notrunc status=none
  arm-none-eabi-objcopy --update-section "$1=$here/section" "$firmware" "$4"
}

section_bytes() { arm-none-eabi-size -A -d "$firmware" | awk -v name="$1" '$1 == name { print $2 }'; }
section_address() { arm-none-eabi-size -A -d "$firmware" | awk -v name="$1" '$1 == name { print $3 }'; }
address() { echo $((16#$(arm-none-eabi-nm "$firmware" | awk -v name="$1" '$3 == name { print $1 }'))); }

# In 8 bits with a tokenizer, an encoder, and in floats.
"$build_dir/mote" convert "$source_dir/tests/golden/models/mistral" -o "$here/q4.mote" --type q4 >/dev/null
build "$text_model"
board=$(sed -n 's/^MOTE_BOARD:[A-Z]*=//p' "$here/CMakeCache.txt")
run 0
generates "$text_model"
build "$work/classify.mote"
run 0
says '^self test: .* outputs differ by 0\.0000'
build "$here/q4.mote"
run 0
generates "$here/q4.mote"
build "$model"
run 0
generates "$model"
says '^self test: ([0-9]+) of \1 ids, '
flash=$(($(section_bytes .vectors) + $(section_bytes .text) + $(section_bytes .ARM.exidx) + $(section_bytes .data)))
ram=$(($(section_bytes .stack) + $(section_bytes .data) + $(section_bytes .bss)))
arena=$(sed -n 's/^arena: \([0-9]*\) of .*/\1/p' <<<"$said")
echo "flash: $flash bytes and the model's $(section_bytes .model); RAM: $ram bytes and the session's $arena"

symbols=$(arm-none-eabi-nm "$firmware" | awk '{ print $NF }')
foreign=$(grep -E '^_?(malloc|calloc|realloc|free|sbrk|abort|exit|.*printf|setlocale|getenv)(_r)?$|^_Zn|^_ZS|^__cxa_|^_?__assert' <<<"$symbols" || true)
[ -z "$foreign" ] || fail "the firmware holds" $foreign

# A model that is none, one whose last weights differ.
damage .model 8 'NONE' "$here/damaged.elf"
run 1 "$here/damaged.elf"
says '^failed: not a model: '
damage .model $(($(section_bytes .model) - 1000)) "$(printf '\\077%.0s' {1..64})" "$here/damaged.elf"
run 1 "$here/damaged.elf"
says '^failed: self test failed: '

# Where a session is made: an undefined instruction, and one that pushes registers for ever.
place=$(($(address mote_session_init) - $(section_address .text)))
damage .text "$place" '\x00\xde' "$here/damaged.elf"
run 2 "$here/damaged.elf"
says "^failed: fault: exception 3, CFSR 0x00010000, at 0x0*$(printf %x "$(address mote_session_init)"), "
damage .text "$place" '\xff\xb4\xfd\xe7' "$here/damaged.elf"
run 2 "$here/damaged.elf"
says '^failed: fault: .*, the stack is full$'

build "$model" -DMOTE_FIRMWARE_ARENA_BYTES=$((arena - 1))
run 1
says "^failed: too small: .* $arena\b"
build "$model" -DMOTE_FIRMWARE_ARENA_BYTES=$arena
run 0
