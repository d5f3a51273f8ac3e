#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes mote, libmote0 and libmote-dev as Debian packages of an installed tree:
# packaging/debs.sh TREE VERSION DEBIAN_ARCHITECTURE WORK FOLDER. TREE has usr/; WORK is emptied. Called by scripts/release.
# MOTE_MAINTAINER is who answers for the packages, "Name <address>". RUNTIME_PACKAGES, for another architecture than this
# machine's, is a folder of unpacked packages that have the shared libraries.
set -euo pipefail
tree=$1 version=$2 architecture=$3 work=$4 out=$5
here=$(cd "$(dirname "$0")/.." && pwd)
multiarch=$(dpkg-architecture -a"$architecture" -qDEB_HOST_MULTIARCH 2>/dev/null)
maintainer=${MOTE_MAINTAINER:-The mote authors <mote@example.org>}
rm -rf "$work"
mkdir -p "$work/debian"
cd "$work"

# package NAME SECTION: the package's stanza of the control file, with the rest of it on standard input.
package() {
  printf '\nPackage: %s\nArchitecture: any\nSection: %s\n' "$1" "$2" >>debian/control
  cat >>debian/control
}
printf 'Source: mote\nSection: science\nPriority: optional\nMaintainer: %s\nStandards-Version: 4.6.2\n' "$maintainer" >debian/control
package mote science <<'END'
Depends: ${shlibs:Depends}, ${misc:Depends}
Recommends: python3-pip
Description: run transformers without a heap
 The command mote converts trained transformers (Hugging Face directories,
 GGUF, CTranslate2, ONNX) to one file and runs them: texts, speech and
 pictures, on CPUs from small boards to servers. Memory is known to the byte
 before a model runs. A small model of home commands comes with it.
END
package libmote0 libs <<'END'
Multi-Arch: same
Depends: ${shlibs:Depends}, ${misc:Depends}
Description: run transformers without a heap - libraries
 libmote runs models of one file in an arena that the caller owns;
 libmote_host does for programs with an operating system what the command
 mote does; libmote_convert makes the files.
END
package libmote-dev libdevel <<'END'
Multi-Arch: same
Depends: libmote0 (= ${binary:Version}), ${misc:Depends}
Description: run transformers without a heap - development files
 Headers, the static library, and files for CMake and pkg-config of libmote,
 libmote_host and libmote_convert.
END

# take PACKAGE FROM [TO]: files of the tree to a folder of the package.
take() {
  local to=debian/$1/${3:-$(dirname "$2")}
  mkdir -p "$to"
  cp -a $tree/$2 "$to/"
}
library=usr/lib/$multiarch
take mote usr/bin/mote
take mote usr/share/bash-completion/completions/mote
take mote usr/share/zsh/site-functions/_mote usr/share/zsh/vendor-completions
take mote usr/share/fish/vendor_completions.d/mote.fish
take mote usr/share/man/man1/mote.1
take mote usr/share/mote usr/share
gzip -9n debian/mote/usr/share/man/man1/mote.1
take libmote0 "$library/libmote*.so.*"
take libmote-dev "$library/libmote*.so"
take libmote-dev "$library/libmote.a"
take libmote-dev "$library/cmake"
take libmote-dev "$library/pkgconfig"
take libmote-dev usr/include/mote

date=$(date -u -R -d "@$SOURCE_DATE_EPOCH")
printf 'mote (%s) unstable; urgency=medium\n\n  * As CHANGELOG.md says.\n\n -- %s  %s\n' "$version" "$maintainer" "$date" \
  >debian/changelog
{
  echo 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/'
  printf 'Upstream-Name: mote\n\nFiles: *\nCopyright: %s The mote authors\nLicense: Apache-2.0\n' "$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y)"
  echo ' On Debian systems the full text of the Apache License, version 2.0, is in'
  echo ' /usr/share/common-licenses/Apache-2.0.'
} >copyright

export DEB_HOST_ARCH=$architecture
known=()  # packages with shared libraries
for package in ${RUNTIME_PACKAGES:+"$RUNTIME_PACKAGES"/*}; do known+=("-S$package"); done
for name in libmote0 libmote-dev mote; do
  root=debian/$name
  mkdir -p "$root/DEBIAN" "$root/usr/share/doc/$name"
  gzip -9n <debian/changelog >"$root/usr/share/doc/$name/changelog.gz"
  cp copyright "$root/usr/share/doc/$name/copyright"
  rm -f debian/substvars
  echo 'misc:Depends=' >debian/substvars
  if [ $name = libmote0 ]; then
    dpkg-gensymbols -q -plibmote0 -v"$version" -Pdebian/libmote0 -Odebian/libmote0/DEBIAN/symbols
    printf 'activate-noawait ldconfig\n' >debian/libmote0/DEBIAN/triggers
    printf 'libmote 0 libmote0\nlibmote_host 0 libmote0\nlibmote_convert 0 libmote0\n' >debian/libmote0/DEBIAN/shlibs
  fi
  programs=()
  while IFS= read -r file; do programs+=("-e$file"); done < <(find "$root" \( -name '*.so.*.*' -o -path '*/bin/*' \) -type f | sort)
  if [ ${#programs[@]} -gt 0 ]; then
    dpkg-shlibdeps -Tdebian/substvars -x"$name" "${known[@]}" "${programs[@]}"
  fi
  find "$root" -type d -exec chmod 755 {} +
  find "$root" -type f ! -path '*/bin/*' -exec chmod 644 {} +
  (cd "$root" && find usr -type f -printf '%p\n' | sort | xargs md5sum >DEBIAN/md5sums)
  find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
  dpkg-gencontrol -p"$name" -P"$root" -Tdebian/substvars -fdebian/files -O"$root/DEBIAN/control"
  touch -d "@$SOURCE_DATE_EPOCH" "$root/DEBIAN/control"
  dpkg-deb --root-owner-group -Zxz --build "$root" "$out/${name}_${version}_$architecture.deb" >/dev/null
  echo "${name}_${version}_$architecture.deb"
done
