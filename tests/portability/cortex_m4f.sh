#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The runtime with its reference kernels links for Cortex-M4F, a model in flash, and takes nothing of the C library
# that allocates or prints. Prints the sizes.
source "$(dirname "$0")/common.sh" "$@"
need arm-none-eabi-g++ cross
here=$work/cortex_m4f
mkdir -p "$here"

cmake -S "$source_dir" --preset cortex-m4f -B "$here" -DMOTE_FIRMWARE_MODEL="$model" ${CI:+-DMOTE_WERROR=ON} >/dev/null
cmake --build "$here"
firmware=$here/mote_firmware.elf
arm-none-eabi-size -A -d "$firmware" | grep -E '^(section|\.)' | grep -vE '^\.(debug|comment|ARM\.attr)'

symbols=$(arm-none-eabi-nm "$firmware" | awk '{ print $NF }')
foreign=$(grep -E '^_?(malloc|calloc|realloc|free|sbrk|abort|exit|.*printf|setlocale|getenv)(_r)?$|^_Zn|^_ZS|^__cxa_|^_?__assert' <<<"$symbols" || true)
[ -z "$foreign" ] || fail "the firmware holds" $foreign
for part in mote_model_open mote_session_init mote_session_step mote_session_self_test; do
  grep -qx "$part" <<<"$symbols" || fail "the firmware lacks $part"
done
