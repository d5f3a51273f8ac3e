#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every code sample in public headers and documents compiles.
source "$(dirname "$0")/common.sh" "$@"
need python3 test
python3 "$source_dir/tests/portability/code_samples.py" "$source_dir" "$work/code_samples"
