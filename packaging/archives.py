# SPDX-License-Identifier: Apache-2.0
"""Writes archives whose bytes depend on their files and SOURCE_DATE_EPOCH alone: tar.xz, zip, wheels, and what goes into them."""
import base64
import hashlib
import io
import lzma
import os
import pathlib
import stat
import tarfile
import time
import zipfile
from typing import Dict, List, Tuple

Files = Dict[str, Tuple[bytes, bool]]  # by name in the archive: the bytes, and whether it is a program


def epoch() -> int:
    """Returns the time of all files: SOURCE_DATE_EPOCH."""
    return int(os.environ["SOURCE_DATE_EPOCH"])


def folder_files(folder: pathlib.Path, prefix: str = "") -> Files:
    """Returns the files of a folder and its folders, their names behind a prefix."""
    found: Files = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            program = bool(path.stat().st_mode & stat.S_IXUSR)
            found[prefix + path.relative_to(folder).as_posix()] = (path.read_bytes(), program)
    return found


def write_tar_xz(path: pathlib.Path, root: str, files: Files) -> None:
    """Writes files below one folder, sorted, owned by root."""
    out = io.BytesIO()
    folders = {"/".join(parts[:count]) for parts in (name.split("/") for name in files) for count in range(1, len(parts))}
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in sorted({"", *folders, *files}):
            entry = tarfile.TarInfo(f"{root}/{name}".rstrip("/"))
            entry.mtime = epoch()
            if name in files:
                data, program = files[name]
                entry.size = len(data)
                entry.mode = 0o755 if program else 0o644
                archive.addfile(entry, io.BytesIO(data))
            else:
                entry.type = tarfile.DIRTYPE
                entry.mode = 0o755
                archive.addfile(entry)
    path.write_bytes(lzma.compress(out.getvalue(), preset=9))


def write_zip(path: pathlib.Path, root: str, files: Files) -> None:
    """Writes files below one folder, sorted."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(files):
            _add(archive, f"{root}/{name}", *files[name])


def _add(archive: zipfile.ZipFile, name: str, data: bytes, program: bool) -> None:
    entry = zipfile.ZipInfo(name, time.gmtime(max(epoch(), 315532800))[:6])  # a zip file knows no time before 1980
    entry.create_system = 3
    entry.external_attr = (0o100755 if program else 0o100644) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, data, compresslevel=9)


def write_wheel(path: pathlib.Path, info: str, tags: List[str], files: Files) -> None:
    """Writes a wheel: files, then WHEEL and RECORD in the folder `info`."""
    wheel = "Wheel-Version: 1.0\nGenerator: mote scripts/release\nRoot-Is-Purelib: false\n"
    wheel += "".join(f"Tag: {tag}\n" for tag in tags)
    files = {**files, f"{info}/WHEEL": (wheel.encode(), False)}
    record = ""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        # Installers like the information at the end.
        for name in sorted(files, key=lambda one: (one.startswith(info + "/"), one)):
            data, program = files[name]
            _add(archive, name, data, program)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record += f"{name},sha256={digest},{len(data)}\n"
        _add(archive, f"{info}/RECORD", (record + f"{info}/RECORD,,\n").encode(), False)
