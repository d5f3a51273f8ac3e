# SPDX-License-Identifier: Apache-2.0
"""What a call returned, as Python has it."""
import ctypes
import json
from types import TracebackType
from typing import Any, List, Optional, Tuple, Type

import numpy as np
import numpy.typing as npt

from . import _declarations as d
from ._error import Cancelled, Error
from ._library import host

_Shape = ctypes.c_uint64 * 4


def _said(text: Optional[bytes]) -> str:
    return (text or b"").decode("utf-8", "replace")


class Reply:
    """A result of libmote_host that succeeded; freed at the end of its `with`."""

    __slots__ = ("_address",)

    def __init__(self, address: Optional[int]) -> None:
        """Raises what the result says where it failed, and frees it then."""
        self._address = address
        if address is None:
            raise MemoryError("mote has no memory for the result of a call")
        library = host()
        status = library.mote_host_status(address)
        if status == d.OK:
            return
        try:
            kind = Cancelled if status == d.CANCELLED else Error
            raise kind(
                _said(library.mote_host_sentence(address)),
                _said(library.mote_status_name(status)),
                library.mote_host_remedy(address),
            )
        finally:
            self._free()

    def _free(self) -> None:
        address, self._address = self._address, None
        host().mote_host_free(address)

    def __enter__(self) -> "Reply":
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self._free()

    def json(self) -> Any:
        return json.loads(_said(host().mote_host_json(self._address)))

    def shape(self) -> Tuple[int, ...]:
        sides = _Shape()
        host().mote_host_shape(self._address, sides)
        return tuple(sides)

    def values(self, sides: int) -> npt.NDArray[np.float32]:
        """Returns a copy of the numbers, with the first `sides` sides of their shape."""
        numbers, shape = self.numbers(), self.shape()[:sides]
        if numbers.size == 0:
            return np.empty(shape if 0 in shape else (0,) * sides, np.float32)
        return numbers.reshape(shape)

    def numbers(self) -> npt.NDArray[np.float32]:
        """Returns a copy of the numbers, one behind the other."""
        count = ctypes.c_uint64()
        address = host().mote_host_values(self._address, ctypes.byref(count))
        if not address:
            return np.empty(0, np.float32)
        values: npt.NDArray[np.float32] = np.frombuffer(
            bytearray(ctypes.string_at(address, 4 * count.value)), np.float32
        )
        return values

    def ids(self) -> List[int]:
        count = ctypes.c_uint64()
        address = host().mote_host_ids(self._address, ctypes.byref(count))
        return list((ctypes.c_int32 * count.value).from_address(address)) if address else []

    def bytes(self) -> bytes:
        count = ctypes.c_uint64()
        address = host().mote_host_bytes(self._address, ctypes.byref(count))
        return ctypes.string_at(address, count.value) if address else b""
