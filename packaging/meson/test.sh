#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds a program of Meson with the wrap and the source archive of this tree: packaging/meson/test.sh FOLDER, which gets the
# project. Meson and an archive by scripts/release are taken from there: FOLDER/mote-VERSION.tar.xz, `meson` of the path.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"
archive=$(ls mote-*.tar.xz)
mkdir -p subprojects
cp -r "$here/packagefiles" subprojects/
cp "$archive" subprojects/packagefiles/
sed "s/@source_hash@/$(sha256sum "$archive" | cut -d' ' -f1)/" "$here/mote.wrap" >subprojects/mote.wrap
cp "$here/../conan/test_package/version.c" .
cat >meson.build <<'END'
project('user', 'c', default_options: ['c_std=c11'])
test('version', executable('version', 'version.c', dependencies: dependency('mote')))
END
meson setup build --wrap-mode=forcefallback
"${NINJA:-ninja}" -C build
meson test -C build
