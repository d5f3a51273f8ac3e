#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds libmote.a: build_libmote.sh CMAKE SOURCE OUTPUT FOLDER. MOTE_CMAKE_OPTIONS are words for CMake, such as
# -DMOTE_KERNELS=native.
set -eu
"$1" -S "$2" -B "$4" -G Ninja -DCMAKE_BUILD_TYPE=Release -DMOTE_BUILD_TOOLS=OFF -DMOTE_BUILD_TESTS=OFF -DMOTE_XNNPACK=OFF \
  -DMOTE_UNITY=ON ${MOTE_CMAKE_OPTIONS-} >"$3.log"
"$1" --build "$4" --target mote_static
cp "$4/libmote.a" "$3"
