#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What packaging/components.py puts into SPDX documents and licences is in the table of docs/third-parties.md, with the
# same licence; the model packages that are fetched are pinned by version and SHA-256.
source "$(dirname "$0")/common.sh" "$@"
need python3 test
cd "$source_dir"
python3 - <<'END'
import json
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, "packaging")
from components import components  # noqa: E402

rows = [line.split("|")[1:-1] for line in pathlib.Path("docs/third-parties.md").read_text().splitlines() if line.startswith("| ")]
table = {row[0].split(",")[0].strip(): {one.strip() for one in re.split(r",| and ", row[2])} for row in rows}
listed = sorted({*components("x86_64"), *components("windows")})
for title, _, licence, _ in listed:
    if title not in table:
        sys.exit(f"docs/third-parties.md has no row on {title}, which packaging/components.py lists")
    if set(licence.split(" AND ")) != table[title]:
        sys.exit(f"docs/third-parties.md says {sorted(table[title])} of {title}, packaging/components.py {licence}")
packages = [package for model in json.loads(pathlib.Path("tools/get/models.json").read_text()).values() for package in model["packages"]]
for package in packages:
    if not re.fullmatch(r"[0-9a-f]{64}", package.get("sha256", "")) or not package.get("version"):
        sys.exit(f"{package['name']} is not pinned in tools/get/models.json")
print(f"{len(listed)} components, {len(packages)} pinned packages")
END
