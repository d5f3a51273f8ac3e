# SPDX-License-Identifier: Apache-2.0
"""Writes what scripts/release has built: release.py archive|cli-wheel|runtime-wheel STAGE VERSION ARCHITECTURE FOLDER

STAGE has bin/mote, share, and in lib what a wheel takes: the libraries for old systems and the command.
"""
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import zipfile
from typing import List

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from archives import Files, folder_files, write_tar_xz, write_wheel, write_zip  # noqa: E402
from components import licence_files, sbom  # noqa: E402

# The names of an architecture in wheels.
_PLATFORMS = {"x86_64": "x86_64", "aarch64": "aarch64", "armv7": "armv7l", "windows": "win_amd64"}
_ABOUT = "Runs transformers without a heap: a command that converts models and runs them"


def archive(stage: pathlib.Path, version: str, architecture: str, folder: pathlib.Path) -> pathlib.Path:
    """Writes the static command with its completions, manual page, model, licences and an SPDX document."""
    windows = architecture == "windows"
    name = f"mote-{version}-windows-x86_64" if windows else f"mote-{version}-linux-{architecture}"
    files: Files = {**folder_files(stage / "bin", "bin/"), **folder_files(stage / "share", "share/")}
    files.update(licence_files(architecture, "share/doc/mote/licences/"))
    files["README.md"] = ((_readme_of_windows if windows else _readme)(version).encode(), False)
    files["share/doc/mote/mote.spdx.json"] = (sbom(name, version, files, architecture), False)
    path = folder / (f"{name}.zip" if windows else f"{name}.tar.xz")
    (write_zip if windows else write_tar_xz)(path, name, files)
    return path


def _readme_of_windows(version: str) -> str:
    return f"""# mote {version}

    bin\\mote demo              a home command becomes JSON, by the model in share\\mote
    bin\\mote get smollm2       fetches a chat model by pip, and says the next line
    bin\\mote --help

`bin\\mote.exe` needs Windows 10 or later on x86-64, nothing else, and runs where it is unpacked; `share` goes with it.
"""


def _readme(version: str) -> str:
    return f"""# mote {version}

    bin/mote demo              # a home command becomes JSON, by the model in share/mote
    bin/mote get smollm2       # fetches a chat model by pip, and says the next line
    bin/mote --help

`bin/mote` is linked statically and runs where it is unpacked; `share` goes with it. To install it, copy both folders to
`/usr/local` or `~/.local`: completions of bash, zsh and fish and the manual page are where shells and `man` look.
"""


def _wheel(name: str, info: str, platforms: List[str], files: Files, architecture: str, folder: pathlib.Path) -> pathlib.Path:
    """Writes a wheel of the files with the licences and an SPDX document."""
    files.update(licence_files(architecture, f"{info}/licenses/"))
    version = info[:-len(".dist-info")].rsplit("-", 1)[1]
    files[f"{info}/sboms/mote.spdx.json"] = (sbom(name, version, files, architecture), False)
    path = folder / f"{info[:-len('.dist-info')]}-py3-none-{'.'.join(platforms)}.whl"
    write_wheel(path, info, [f"py3-none-{one}" for one in platforms], files)
    return path


def cli_wheel(stage: pathlib.Path, version: str, architecture: str, folder: pathlib.Path) -> pathlib.Path:
    """Writes the static command alone, as a script of any Python on any Linux, or on Windows."""
    machine = _PLATFORMS[architecture]
    data, info = f"mote_cli-{version}.data", f"mote_cli-{version}.dist-info"
    metadata = "\n".join([
        "Metadata-Version: 2.4", "Name: mote-cli", f"Version: {version}", f"Summary: {_ABOUT}", "License-Expression: Apache-2.0",
        "License-File: LICENSE", "Description-Content-Type: text/markdown", "", f"# mote-cli\n\n{_ABOUT}. `mote demo` shows it.\n"])
    files: Files = {**folder_files(stage / "bin", f"{data}/scripts/"),
                    f"{info}/METADATA": (metadata.encode(), False), **folder_files(stage / "share", f"{data}/data/share/")}
    platforms = [machine] if architecture == "windows" else [f"manylinux2014_{machine}", f"musllinux_1_1_{machine}"]
    return _wheel("mote-cli", info, platforms, files, architecture, folder)


def runtime_wheel(stage: pathlib.Path, version: str, architecture: str, folder: pathlib.Path) -> pathlib.Path:
    """Writes the wheel of bindings/python with the libraries and the command of the stage, and what goes with them."""
    platform = _PLATFORMS[architecture]
    if architecture != "windows":
        platform = f"manylinux_2_28_{platform}"
    with tempfile.TemporaryDirectory() as plain:
        build = {**os.environ, "MOTE_BUILD": str(stage / "lib"), "MOTE_PLATFORM": platform}
        subprocess.run([sys.executable, "bindings/python/build_backend/mote_wheel.py", plain], env=build, check=True,
                       stdout=subprocess.DEVNULL)
        with zipfile.ZipFile(next(pathlib.Path(plain).glob("*.whl"))) as wheel:
            files: Files = {entry.filename: (wheel.read(entry), bool(entry.external_attr >> 16 & stat.S_IXUSR))
                            for entry in wheel.infolist()}
    info = f"mote_runtime-{version}.dist-info"
    for name in ("WHEEL", "RECORD", "licenses/LICENSE"):  # write_wheel and _wheel have them
        del files[f"{info}/{name}"]
    files.update(folder_files(stage / "share/mote", "mote/share/mote/"))
    return _wheel("mote-runtime", info, [platform], files, architecture, folder)


if __name__ == "__main__":
    _what = {"archive": archive, "cli-wheel": cli_wheel, "runtime-wheel": runtime_wheel}[sys.argv[1]]
    print(_what(pathlib.Path(sys.argv[2]), sys.argv[3], sys.argv[4], pathlib.Path(sys.argv[5])).name)
