# SPDX-License-Identifier: Apache-2.0
"""The package as it is installed: its declarations, its library, its command."""
import ctypes
import os
import pathlib
import shutil
import subprocess
import sys
import time

import mote
import pytest
from mote import _declarations, _library


def run_in(folder, *arguments, library):
    """Runs Python with the package in a folder, and MOTE_LIBRARY."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "MOTE_LIBRARY": str(library)}
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=environment, cwd=folder)


@pytest.mark.skipif(sys.maxsize < 2**32, reason="the record is that of machines of 64 bits")
def test_structs_have_the_sizes_of_the_record():
    for name, size in _declarations.SIZES.items():
        assert ctypes.sizeof(getattr(_declarations, name)) == size


def test_the_library_has_every_function_that_is_declared():
    for library, table in ((_library.host(), _declarations.HOST), (_library.converter(), _declarations.CONVERT)):
        for name, result, arguments in table:
            assert getattr(library, name).argtypes == arguments


@pytest.fixture
def bare(tmp_path):
    """Returns a folder with the package's Python alone."""
    shutil.copytree(
        pathlib.Path(mote.__file__).parent, tmp_path / "mote", ignore=shutil.ignore_patterns("lib", "bin", "__pycache__")
    )
    return tmp_path


def test_a_missing_library_is_said_by_the_first_call(bare):
    done = run_in(bare, "-c", "import mote; print(mote.__version__); mote.open('x')", library=bare / "none")
    assert done.stdout == f"{mote.__version__}\n"
    assert "ImportError: mote finds no library" in done.stderr and "MOTE_LIBRARY" in done.stderr
    done = run_in(bare, "-m", "mote", "--version", library=bare / "none")
    assert done.returncode == 1 and done.stderr.startswith("mote: mote finds no command")


def test_a_library_of_another_kind_is_refused(bare):
    (bare / "libmote_host.so").write_bytes(b"no library")
    done = run_in(bare, "-c", "import mote; mote.open('x')", library=bare)
    assert "ImportError: mote finds no library" in done.stderr


def test_the_environment_names_a_library_or_its_folder(bare):
    library = pathlib.Path(_library.host()._name).resolve()
    for place in (library, library.parent):
        done = run_in(bare, "-c", "import mote; mote.open('/none')", library=place)
        assert "mote._error.Error" in done.stderr, done.stderr


def test_the_module_becomes_the_command(file_of):
    done = subprocess.run([sys.executable, "-m", "mote", "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"mote {mote.__version__}\n")
    wrong = subprocess.run([sys.executable, "-m", "mote", "no-such"], capture_output=True, text=True)
    assert wrong.returncode == 2
    if not os.path.exists("/proc/self/exe"):
        return
    arguments = [sys.executable, "-m", "mote", "tokenize", str(file_of("llama")), "--file", "-"]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        until = time.monotonic() + 60
        while os.path.realpath(f"/proc/{process.pid}/exe") != os.path.realpath(_library.command()):
            assert time.monotonic() < until
            time.sleep(0.01)
        said, _ = process.communicate(b"hello")
    with mote.open(file_of("llama")) as model:
        assert said.split() == [str(token).encode() for token in model.tokenize("hello")]


def test_get_fetches_nothing_when_offline_and_names_the_models_that_there_are(tmp_path, monkeypatch):
    monkeypatch.setenv("MOTE_OFFLINE", "1")
    said = []
    with pytest.raises(mote.Error, match="MOTE_OFFLINE is set: minilm is not fetched"):
        mote.get("minilm", tmp_path, said.append)
    assert "licence: Apache-2.0" in said[0] and "MB to fetch" in said[0]
    with pytest.raises(mote.Error, match="no model 'nothing'; there are smollm2, minilm"):
        mote.get("nothing", tmp_path, said.append)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "all-MiniLM-L6-v2").mkdir()  # it is there already
    assert mote.get("minilm", tmp_path, said.append) == tmp_path / "all-MiniLM-L6-v2"
    assert said[-1].startswith("next: ")


@pytest.mark.skipif(sys.platform == "win32", reason="it has no pty")
def test_the_command_draws_on_a_terminal_how_far_a_verification_is(file_of):
    import pty

    ours, theirs = pty.openpty()
    done = subprocess.run([_library.command(), "verify", file_of("llama")], stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    drawn = os.read(ours, 1 << 16)
    os.close(ours)
    assert done.returncode == 0 and b"hashes of" in done.stdout and b"self test on" in done.stdout
    assert b"]   0 %  hashes" in drawn and drawn.endswith(b"\r\x1b[K")
    silent = subprocess.run([_library.command(), "verify", file_of("llama")], capture_output=True)
    assert silent.stdout == done.stdout and silent.stderr == b""
