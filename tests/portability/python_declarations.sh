#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Python's declarations of mote/host.h and mote/convert.h are those of the record of the binary interface.
source "$(dirname "$0")/common.sh" "$@"
need python3 test
"$source_dir/scripts/make_python_declarations" --check || fail "the declarations are old"
echo "$(grep -c '^    ("' "$source_dir/bindings/python/mote/_declarations.py") functions are declared as recorded"
