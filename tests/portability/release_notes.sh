#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/release-notes prints a version's section alone, and CHANGELOG.md has one on the version that is built.
source "$(dirname "$0")/common.sh" "$@"
here=$work/release_notes
mkdir -p "$here"
cat >"$here/changelog" <<'END'
# Changelog

## [Unreleased]

- nothing

## [1.2.0] - 2030-01-02

A sentence.

### Added

- one ([docs](docs/a.md))

## [1.2]

- of another

[1.2.0]: https://example.org
END
notes() { "$source_dir/scripts/release-notes" "$@"; }
[ "$(notes 1.2.0 "$here/changelog")" = $'A sentence.\n\n### Added\n\n- one ([docs](docs/a.md))' ] || fail "not the section: $(notes 1.2.0 "$here/changelog")"
[ "$(notes 1.2 "$here/changelog")" = "- of another" ] || fail "not the last section"
REPOSITORY=https://example.org/mote/ notes 1.2.0 "$here/changelog" >"$here/linked"
grep -qF '[docs](https://example.org/mote/blob/v1.2.0/docs/a.md)' "$here/linked" || fail "links stay: $(cat "$here/linked")"
if notes 1.3.0 "$here/changelog" 2>"$here/refused"; then fail "a section that is not there was printed"; fi
grep -q "no section on 1.3.0; it has Unreleased 1.2.0 1.2" "$here/refused" || fail "$(cat "$here/refused")"

version=$(sed -n 's/^project(mote VERSION \([0-9.]*\).*/\1/p' "$source_dir/CMakeLists.txt")
[ "$(notes)" = "$(notes "$version")" ] || fail "without a version it is not that of CMakeLists.txt"
[ "$(notes | wc -l)" -ge 10 ] || fail "CHANGELOG.md has less than ten lines on $version"
grep -q '^### ' <<<"$(notes)" || fail "CHANGELOG.md has no sections on $version"
