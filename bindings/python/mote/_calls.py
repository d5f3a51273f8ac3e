# SPDX-License-Identifier: Apache-2.0
"""Runs a call of the library: on this thread where nobody listens, else on one of its own."""
import ctypes
from typing import Any, Callable, Dict, Optional, TypeVar

from . import _interrupt
from ._error import Cancelled, Error
from ._handle import Handle
from ._inputs import Inputs
from ._reply import Reply
from ._stream import notes_wanted, told

T = TypeVar("T")
Listeners = Dict[str, Optional[Callable[..., None]]]


def _direct(handle: Handle, call: Callable[[int, Any], T]) -> T:
    address = handle.enter()
    try:
        if not _interrupt.on_main_thread():
            return call(address, None)
        interrupt = _interrupt.take()
        try:
            return call(address, ctypes.byref(interrupt.calls))
        finally:
            _interrupt.give_back(interrupt)
    except Cancelled:
        if handle.closed:
            raise Error(f"the {handle.what} was closed during the call") from None
        raise
    finally:
        handle.leave()


def run(
    handle: Handle,
    function: Callable[..., Optional[int]],
    inputs: Inputs,
    options: Optional[bytes],
    read: Callable[[Reply], T],
    listeners: Optional[Listeners] = None,
) -> T:
    """Returns read(reply) of a call with inputs, options and callbacks.

    Listeners are called on this thread. A listener that raises ends the call, and so does the handler of a signal.
    """

    def call(address: int, calls: Any) -> T:
        with Reply(function(address, *inputs.arguments(), options, calls)) as reply:
            return read(reply)

    if (listeners and any(listeners.values())) or notes_wanted() or not _interrupt.works_here():
        value: T = told(handle, lambda address, calls: call(address, ctypes.byref(calls)), listeners or {})
        return value
    return _direct(handle, call)


def run_short(handle: Handle, function: Callable[..., Optional[int]], *arguments: Any) -> Reply:
    """Returns the reply of a call that is too short to be ended."""
    address = handle.enter()
    try:
        return Reply(function(address, *arguments))
    finally:
        handle.leave()
