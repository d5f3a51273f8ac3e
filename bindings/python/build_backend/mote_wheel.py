# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel, by PEP 517 and without other packages: `pip wheel bindings/python`, or `python mote_wheel.py FOLDER`.

The libraries and the command come from the build folder that MOTE_BUILD names, by default build/ of the source. The tag
says this machine's platform, or MOTE_PLATFORM does ("manylinux_2_28_x86_64"). The bytes depend on the contents alone:
entries are sorted and have the time SOURCE_DATE_EPOCH, or 1980.
"""
import base64
import hashlib
import os
import pathlib
import re
import sys
import sysconfig
import time
import zipfile
from typing import Any, Dict, List, Optional, Tuple

HERE = pathlib.Path(__file__).resolve().parent.parent
ROOT = HERE.parent.parent
NAME = "mote_runtime"
# Places in the wheel, and the files of a build that go there.
BUILT = {
    "mote/lib/libmote_host.so": "libmote_host.so",
    "mote/lib/libmote_convert.so": "libmote_convert.so",
    "mote/bin/mote": "mote",
}
BUILT_FOR_WINDOWS = {  # the one library has the functions of both headers
    "mote/lib/mote_host.dll": "mote_host.dll",
    "mote/bin/mote.exe": "mote.exe",
}
Entry = Tuple[str, bytes, int]  # name, contents, mode


def _version() -> str:
    found = re.search(r'^__version__ = "(.+)"$', (HERE / "mote/__init__.py").read_text(), re.MULTILINE)
    assert found is not None
    return found[1]


def _platform() -> str:
    return os.environ.get("MOTE_PLATFORM") or re.sub(r"[-.]", "_", sysconfig.get_platform())


def _settings(section: str) -> Dict[str, str]:
    """Returns the texts of a table of pyproject.toml: lines `name = "text"`."""
    text = (HERE / "pyproject.toml").read_text()
    body = text.split(f"[{section}]\n", 1)[1].split("\n[", 1)[0]
    return dict(re.findall(r'^([\w-]+) = "(.*)"$', body, re.MULTILINE))


def _list(name: str) -> List[str]:
    text = (HERE / "pyproject.toml").read_text()
    body = re.search(rf"^{name} = \[(.*?)\]$", text, re.MULTILINE | re.DOTALL)
    assert body is not None
    return re.findall(r'"(.*?)"', body[1])


def _metadata() -> bytes:
    project = _settings("project")
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {project['name']}",
        f"Version: {_version()}",
        f"Summary: {project['description']}",
        f"License-Expression: {project['license']}",
        "License-File: LICENSE",
        *(f"Classifier: {each}" for each in _list("classifiers")),
        f"Requires-Python: {project['requires-python']}",
        *(f"Requires-Dist: {each}" for each in _list("dependencies")),
        "Description-Content-Type: text/markdown",
        "",
        (HERE / "README.md").read_text(),
    ]
    return "\n".join(lines).encode()


def _information() -> List[Entry]:
    """Returns the entries of the .dist-info folder but RECORD."""
    folder = f"{NAME}-{_version()}.dist-info"
    tag = f"Wheel-Version: 1.0\nGenerator: mote\nRoot-Is-Purelib: false\nTag: py3-none-{_platform()}\n"
    points = "".join(
        f"[{group}]\n{''.join(f'{name} = {value}' + chr(10) for name, value in _settings(section).items())}\n"
        for group, section in (("console_scripts", "project.scripts"), ("llm", "project.entry-points.llm"))
    )
    return [
        (f"{folder}/METADATA", _metadata(), 0o644),
        (f"{folder}/WHEEL", tag.encode(), 0o644),
        (f"{folder}/entry_points.txt", points.encode(), 0o644),
        (f"{folder}/licenses/LICENSE", (ROOT / "LICENSE").read_bytes(), 0o644),
    ]


def _package() -> List[Entry]:
    """Returns the entries of the package. Raises SystemExit where the build lacks one."""
    build = pathlib.Path(os.environ.get("MOTE_BUILD") or ROOT / "build")
    entries = [(f"mote/{file.name}", file.read_bytes(), 0o644) for file in (HERE / "mote").glob("*.py")]
    entries.append(("mote/py.typed", b"", 0o644))
    for place, name in (BUILT_FOR_WINDOWS if _platform().startswith("win") else BUILT).items():
        if not (build / name).is_file():
            raise SystemExit(f"mote_wheel: {build / name} is missing: build it, or name a build folder by MOTE_BUILD")
        entries.append((place, (build / name).read_bytes(), 0o755))
    shared = build / "share"
    for file in shared.glob("mote/**/*"):
        if file.is_file():
            entries.append((f"mote/share/{file.relative_to(shared).as_posix()}", file.read_bytes(), 0o644))
    return entries


def _record(entries: List[Entry]) -> Entry:
    lines = []
    for name, data, _ in entries:
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(data)}\n")
    name = f"{NAME}-{_version()}.dist-info/RECORD"
    return name, "".join([*lines, f"{name},,\n"]).encode(), 0o644


def build_wheel(
    wheel_directory: str, config_settings: Optional[Dict[str, Any]] = None, metadata_directory: Optional[str] = None
) -> str:
    """Writes the wheel to a folder; returns its name."""
    entries = sorted(_package() + _information())
    entries.append(_record(entries))
    moment = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", 0)), 315532800))[:6]
    name = f"{NAME}-{_version()}-py3-none-{_platform()}.whl"
    path = pathlib.Path(wheel_directory) / name
    with zipfile.ZipFile(path, "w") as archive:
        for entry, data, mode in entries:
            info = zipfile.ZipInfo(entry, moment)
            info.external_attr = (0o100000 | mode) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3
            archive.writestr(info, data)
    return name


def build_sdist(sdist_directory: str, config_settings: Optional[Dict[str, Any]] = None) -> str:
    """Refuses: the libraries are built by CMake, from the project's own source archive."""
    raise SystemExit("mote_wheel: a source distribution would lack the C++ source; take the project's source archive")


if __name__ == "__main__":
    print(build_wheel(sys.argv[1] if len(sys.argv) > 1 else "."))
