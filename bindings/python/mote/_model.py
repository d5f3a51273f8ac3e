# SPDX-License-Identifier: Apache-2.0
"""Models."""
import ctypes
from typing import Any, Callable, Optional, Union

import numpy as np

from ._calls import run, run_short
from ._handle import Handle
from ._inputs import Inputs, Path, path_bytes
from ._library import host
from ._media import MediaCalls
from ._options import options_json
from ._owner import Owner
from ._reply import Reply
from ._texts import TextCalls
from ._vectors import VectorCalls

_ALIGNMENT = 64


class Model(Owner, VectorCalls, TextCalls, MediaCalls):
    """An open model, which mote.open() returns. Any thread may call it; its `sessions` say how many calls run at once."""

    def __init__(self, handle: Handle, info: "dict[str, Any]", holds: object) -> None:
        self._handle = handle
        self._holds = holds  # the bytes that the model is in
        self._about = info
        self._width = int(info["width"])
        self._takes_pictures = bool(info["takes_pictures"])
        self._takes_sounds = not self._takes_pictures and bool(info["sample_rate"])

    @property
    def name(self) -> str:
        return str(self._about["name"])

    @property
    def width(self) -> int:
        """The numbers of a vector, of models that give vectors."""
        return self._width

    def info(self) -> "dict[str, Any]":
        """Returns what the model is, what it is for ("tasks"), and what its sessions take now ("memory_bytes")."""
        with run_short(self._handle, host().mote_host_info) as reply:
            found: "dict[str, Any]" = reply.json()
            return found

    def verify(self, *, progress: Optional[Callable[[str, float], None]] = None) -> "dict[str, Any]":
        """Hashes every tensor and replays the run that the converter stored. Raises Error where they differ.

        `progress` is told the stage, "hashes" or "self test", and the part of it that is done.
        """
        found: "dict[str, Any]" = run(self._handle, _verify, Inputs(0), None, Reply.json, {"progress": progress})
        return found

    def cancel(self) -> None:
        """Ends all calls on the model that are in progress, within one bounded step each."""
        address = self._handle.enter()
        try:
            host().mote_host_cancel(address)
        finally:
            self._handle.leave()

    def __repr__(self) -> str:
        return f"<mote.Model {self.name!r}{', closed' if self.closed else ''}>"


def _verify(address: int, _: Any, __: int, ___: None, calls: Any) -> Optional[int]:
    """Calls the function that has neither inputs nor options."""
    found: Optional[int] = host().mote_host_verify(address, calls)
    return found


def open_model(
    path: Union[Path, bytes, bytearray, memoryview],
    *,
    threads: Optional[int] = None,
    decode_threads: Optional[int] = None,
    context: Optional[int] = None,
    chunk: Optional[int] = None,
    kv: Optional[str] = None,
    sessions: Optional[int] = None,
    vision: Optional[Path] = None,
    text_model: Optional[Path] = None,
    draft: Optional[Path] = None,
    hashes: Optional[bool] = None,
    **options: Any,
) -> Model:
    """Opens a .mote file, which stays mapped, or its bytes, which are copied."""
    library = host()
    json = options_json(
        {
            "threads": threads, "decode_threads": decode_threads, "context": context, "chunk": chunk, "kv": kv,
            "sessions": sessions, "vision": vision, "text_model": text_model, "draft": draft,
            "hashes": hashes, **options,
        }  # fmt: skip
    )
    address = ctypes.c_void_p()
    holds: Any = None
    if isinstance(path, (bytes, bytearray, memoryview)):
        holds = _aligned(path)
        result = library.mote_host_open_bytes(holds.ctypes.data, holds.size, json, ctypes.byref(address))
    else:
        result = library.mote_host_open(path_bytes(path), json, ctypes.byref(address))
    with Reply(result) as reply:
        assert address.value is not None
        handle = _ModelHandle(address.value, library.mote_host_close, "model", library.mote_host_cancel)
        handle.holds = holds
        return Model(handle, reply.json(), holds)


class _ModelHandle(Handle):
    holds: Any = None  # the bytes that the model is in, which must not go before it


def _aligned(data: Union[bytes, bytearray, memoryview]) -> "np.ndarray[Any, np.dtype[np.uint8]]":
    """Returns a copy of bytes at a multiple of the alignment that a model has."""
    raw = np.frombuffer(data, np.uint8)
    if raw.size == 0:
        raise ValueError("a model's bytes are empty")
    space = np.empty(raw.size + _ALIGNMENT, np.uint8)
    start = -space.ctypes.data % _ALIGNMENT
    copy = space[start : start + raw.size]
    copy[:] = raw
    return copy
