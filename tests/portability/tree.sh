#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the project keeps are files of its own: no symbolic link, which leads elsewhere on another machine, and nothing that
# .gitignore names.
set -euo pipefail
cd "$1"
if [ -e .git ] && command -v git >/dev/null; then
  links=$(git -c safe.directory='*' ls-files -s | awk '$1 == 120000' | cut -f 2)
  ignored=$(git -c safe.directory='*' ls-files --cached --ignored --exclude-standard)
else
  links=$(find . -type l -not -path './build*' -not -path './models/downloads*')
  ignored=
fi
[ -z "$links" ] || { echo "symbolic links: $links" >&2; exit 1; }
[ -z "$ignored" ] || { echo "kept, although .gitignore names them: $ignored" >&2; exit 1; }
