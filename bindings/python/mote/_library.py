# SPDX-License-Identifier: Apache-2.0
"""Finds the shared libraries and the command, and declares their functions."""
import ctypes
import os
import pathlib
import sys
import threading
from typing import Any, Dict, List, Tuple

from . import _declarations

_PACKAGE = pathlib.Path(__file__).resolve().parent
_lock = threading.Lock()
_loaded: Dict[str, ctypes.CDLL] = {}


def _file_names(stem: str) -> List[str]:
    if sys.platform == "win32":
        return [f"{stem}.dll", f"lib{stem}.dll", "mote_host.dll"]  # which has both headers' functions in a wheel
    if sys.platform == "darwin":
        return [f"lib{stem}.dylib", f"lib{stem}.0.dylib"]
    return [f"lib{stem}.so", f"lib{stem}.so.0"]


def _places(stem: str) -> List[str]:
    """Returns the files that may be the library, in the order in which they are tried."""
    names = _file_names(stem)
    folders = [_PACKAGE / "lib"]
    given = os.environ.get("MOTE_LIBRARY")
    if given:
        path = pathlib.Path(given)
        if path.is_dir():
            folders.append(path)
        else:
            if stem in path.name:
                return [*(str(_PACKAGE / "lib" / name) for name in names), given, *names]
            folders.append(path.parent)
    return [*(str(folder / name) for folder in folders for name in names), *names]


def _load(stem: str, table: List[Tuple[str, Any, List[Any]]]) -> ctypes.CDLL:
    reasons: List[str] = []
    for place in _places(stem):
        if os.path.dirname(place) and not os.path.exists(place):
            continue
        try:
            library = ctypes.CDLL(place)
            for name, result, arguments in table:
                function = getattr(library, name)
                function.restype = result
                function.argtypes = arguments
            return library
        except (OSError, AttributeError) as error:
            reasons.append(str(error))
    said = f" ({'; '.join(reasons)})" if reasons else ""
    raise ImportError(
        f"mote finds no library {_file_names(stem)[0]} in {_PACKAGE / 'lib'}, by the environment variable "
        f"MOTE_LIBRARY or by the system's loader{said}; install the wheel of this platform, or set MOTE_LIBRARY "
        "to the library or its folder"
    )


def _library(stem: str, table: List[Tuple[str, Any, List[Any]]]) -> ctypes.CDLL:
    found = _loaded.get(stem)
    if found is None:
        with _lock:
            found = _loaded.get(stem)
            if found is None:
                found = _loaded[stem] = _load(stem, table)
    return found


def host() -> ctypes.CDLL:
    """Returns libmote_host, loaded by the first call."""
    return _loaded.get("mote_host") or _library("mote_host", _declarations.HOST)


def converter() -> ctypes.CDLL:
    """Returns libmote_convert, loaded by the first call."""
    return _library("mote_convert", _declarations.CONVERT)


def _folders() -> List[pathlib.Path]:
    """Returns the package's folder and that which MOTE_LIBRARY names."""
    given = os.environ.get("MOTE_LIBRARY")
    if not given:
        return [_PACKAGE]
    folder = pathlib.Path(given)
    return [_PACKAGE, folder if folder.is_dir() else folder.parent]


def shared_file(name: str) -> str:
    """Returns the path of a file that comes with the command."""
    places = [folder / "share/mote" / name for folder in _folders()]
    for place in places:
        if place.is_file():
            return str(place)
    raise ImportError(f"mote finds no {name}: {' and '.join(map(str, places))} is not there")


def command() -> str:
    """Returns the path of the command, of the package or else of the folder that MOTE_LIBRARY names."""
    name = "mote.exe" if sys.platform == "win32" else "mote"
    package, *others = _folders()
    places = [package / "bin" / name, *(folder / name for folder in others)]
    for place in places:
        if place.is_file() and os.access(place, os.X_OK):
            return str(place)
    raise ImportError(f"mote finds no command: {' and '.join(map(str, places))} is no program")
