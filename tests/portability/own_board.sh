#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A board outside mote's tree: examples/firmware/board, copied, with a linker script, interrupts, a tick and a watchdog of its
# own, runs the assistant, whose model is in the image or in a partition. Without a debugger the end of a run is no fault. A
# project with a toolchain file of its own, as vendors' SDKs have them, links mote as a library.
source "$(dirname "$0")/common.sh" "$@"
need arm-none-eabi-g++ cross
need qemu-system-arm cross
here=$work/own_board
rm -rf "$here/board"
mkdir -p "$here/board"
cp "$source_dir"/examples/firmware/board/* "$here/board"
echo 'set(MOTE_BOARD_EMULATED ${EMULATED})' >>"$here/board/board.cmake"
"$build_dir/mote" convert "$source_dir/models/commands" -o "$here/commands.mote" --type q4 --target cortex-m4 >/dev/null 2>&1

# build EMULATED [OPTION]...
build() {
  cmake -S "$source_dir" --preset cortex-m4f -B "$here/build" -DMOTE_BOARD="$here/board/board.cmake" -DEMULATED="$1" \
    ${CI:+-DMOTE_WERROR=ON} "${@:2}" >"$here/configure.txt" 2>&1 || fail "$(cat "$here/configure.txt")"
  cmake --build "$here/build" --target mote_assistant >"$here/build.txt" || fail "$(tail -n 30 "$here/build.txt")"
}
image=$here/build/mote_assistant.elf

# run SECONDS [OPTION]...: two lines typed at once, so that the second comes while an answer is made. An instruction is a
# nanosecond, whatever else this machine does.
run() {
  code=0
  said=$(printf 'turn the kitchen lights to 30 percent\nexit\n' | timeout "$1" qemu-system-arm -M mps2-an386 -display none \
    -monitor none -serial stdio -icount shift=0 -semihosting-config enable=on,target=native -kernel "$image" "${@:2}") || code=$?
}
says() { grep -qE "$1" <<<"$said" || fail "the firmware did not print '$1' but: $said"; }

answer='^\{"action":"set","device":"lights","room":"kitchen","brightness":30\}'
in_image=(-DMOTE_FIRMWARE_MODEL="$here/commands.mote" -DMOTE_FIRMWARE_PARTITION_ORIGIN= -DMOTE_FIRMWARE_PARTITION_BYTES=)
build ON "${in_image[@]}"
run 60
[ "$code" = 0 ] || fail "the run ended with $code: $said"
says "$answer"
says 'mote [0-9.]+ on board'
says 'longest gap [0-9]{1,6} ticks, busy [1-9][0-9]{3,} ticks'  # a clock that never goes back
echo "a board outside the tree answers: $(grep '^{' <<<"$said")"

# Nobody answers semihosting: the run stops, by no fault, after what it has to say.
build OFF "${in_image[@]}"
run 20
[ "$code" = 124 ] || fail "without a debugger the run ended with $code: $said"
says "$answer"
says 'stack [0-9]+ of 5120 bytes'
if grep -q 'fault' <<<"$said"; then fail "without a debugger: $said"; fi

# A watchdog of a millisecond that is not fed warns by an interrupt that has no handler.
sed -i 's/^void board_turn.*/void board_turn(void) {}/; s/kLoad) = MOTE_BOARD_CLOCK_HZ/kLoad) = MOTE_BOARD_CLOCK_HZ \/ 1000/' "$here/board/board.cpp"
build ON "${in_image[@]}"
run 20
says '^failed: fault: exception 2, '
cp "$source_dir/examples/firmware/board/board.cpp" "$here/board"

# The model in a partition, which is checked in full before it runs.
build ON -DMOTE_FIRMWARE_MODEL= -DMOTE_FIRMWARE_PARTITION_ORIGIN=0x00300000 -DMOTE_FIRMWARE_PARTITION_BYTES=0x100000
run 60 -device loader,file="$here/commands.mote",addr=0x300000,force-raw=on
[ "$code" = 0 ] || fail "the model of a partition: $code: $said"
says "$answer"
cp "$here/commands.mote" "$here/damaged.mote"
printf '\x01' | dd of="$here/damaged.mote" bs=1 seek=300000 conv=notrunc status=none
run 60 -device loader,file="$here/damaged.mote",addr=0x300000,force-raw=on
[ "$code" = 1 ] || fail "a damaged partition: $code: $said"
says '^failed: corrupt file: .*hash differs'
run 60
[ "$code" = 1 ] || fail "an empty partition: $code: $said"
says '^failed: (not a model|truncated|corrupt)'
echo "a partition's model is checked: $(grep '^failed' <<<"$said")"

# An RP2350: its image has an IMAGE_DEF, and a UF2 holds what the image loads.
cmake -S "$source_dir" --preset cortex-m33 -B "$here/pico2" -DMOTE_BOARD=pico2 -DMOTE_FIRMWARE_MODEL="$here/commands.mote" \
  ${CI:+-DMOTE_WERROR=ON} >"$here/configure.txt" 2>&1 || fail "$(cat "$here/configure.txt")"
cmake --build "$here/pico2" --target mote_assistant >"$here/build.txt" || fail "$(tail -n 30 "$here/build.txt")"
"$source_dir/scripts/make_uf2" "$here/pico2/mote_assistant.elf" -o "$here/pico2.uf2"
arm-none-eabi-objcopy -O binary "$here/pico2/mote_assistant.elf" "$here/pico2.bin"
python3 - "$here/pico2.uf2" "$here/pico2.bin" <<'END' || fail "the UF2 is another"
import struct, sys
blocks, image = open(sys.argv[1], "rb").read(), open(sys.argv[2], "rb").read()
assert blocks and len(blocks) % 512 == 0
memory, count = {}, len(blocks) // 512
for i in range(count):
    block = blocks[512 * i : 512 * i + 512]
    first, second, flags, address, size, number, total, family = struct.unpack_from("<8I", block)
    assert (first, second, flags) == (0x0A324655, 0x9E5D5157, 0x2000) and struct.unpack_from("<I", block, 508)[0] == 0x0AB16F30
    assert (size, number, total, family) == (256, i, count, 0xE48BFF59) and address % 256 == 0
    memory[address] = block[32 : 32 + size]
flash = b"".join(memory.get(0x10000000 + at, bytes(256)) for at in range(0, len(image), 256))
assert flash[: len(image)] == image and not any(flash[len(image) :])
assert struct.pack("<5I", 0xFFFFDED3, 0x10210142, 0x1FF, 0, 0xAB123579) in image[:4096]
stack, reset = struct.unpack_from("<2I", image)
assert 0x20000000 < stack <= 0x20080000 and 0x10000000 <= reset < 0x10000000 + len(image) and reset & 1
END
"$source_dir/scripts/make_uf2" "$here/commands.mote" --at 0x10100000 -o "$here/model.uf2"
if "$source_dir/scripts/make_uf2" "$here/build/mote_assistant.elf" -o "$here/none.uf2" 2>"$here/none.txt"; then fail "takes an ELF without IMAGE_DEF"; fi
grep -q 'no IMAGE_DEF' "$here/none.txt" && [ ! -e "$here/none.uf2" ] || fail "$(cat "$here/none.txt")"

# A board that is not there.
if cmake -S "$source_dir" --preset cortex-m4f -B "$here/absent" -DMOTE_BOARD=absent >"$here/absent.txt" 2>&1; then fail "takes any board"; fi
tr -s ' \n' ' ' <"$here/absent.txt" | grep 'is not there; name a' >/dev/null || fail "$(cat "$here/absent.txt")"  # CMake wraps lines

# A project as those of vendors' SDKs: its own toolchain file, start-up and linker script; mote below it.
mkdir -p "$here/project"
cp "$source_dir/examples/firmware/sdk/"* "$here/project"
cmake -G Ninja -S "$here/project" -B "$here/project/build" -DMOTE_SOURCE="$source_dir" -DCMAKE_BUILD_TYPE=MinSizeRel \
  -DCMAKE_TOOLCHAIN_FILE="$here/project/toolchain.cmake" >"$here/configure.txt" 2>&1 || fail "$(cat "$here/configure.txt")"
cmake --build "$here/project/build" >"$here/build.txt" 2>&1 || fail "$(tail -n 30 "$here/build.txt")"
arm-none-eabi-nm "$here/project/build/app.elf" | grep ' T mote_session_step' >/dev/null || fail "the project's program has no mote"
if [ -e "$here/project/build/mote/mote_assistant.elf" ]; then fail "the project builds mote's images"; fi
echo "a project of another build system links mote: $(arm-none-eabi-size "$here/project/build/app.elf" | awk 'NR == 2 { print $1 }') bytes"
