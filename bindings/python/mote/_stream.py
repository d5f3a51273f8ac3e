# SPDX-License-Identifier: Apache-2.0
"""Calls that tell while they run: each runs on a thread of its own, and what it tells comes through a queue."""
import ctypes
import logging
import os
import queue
import threading
from typing import Any, Callable, Dict, Iterator, Optional, Tuple, cast

from ._declarations import mote_host_calls
from ._error import Cancelled, Error
from ._handle import Handle

_Callback: Dict[str, Any] = dict(cast(Any, mote_host_calls._fields_))
_log = logging.getLogger("mote")
Event = Tuple[str, Any]


def notes_wanted() -> bool:
    """Says whether somebody listens to the library's notes, which go to the logger "mote"."""
    return _log.isEnabledFor(logging.INFO)


def _text_at(address: int, count: int) -> str:
    return ctypes.string_at(address, count).decode("utf-8", "replace") if address else ""


def _samples_at(address: int, count: int) -> bytes:
    return ctypes.string_at(address, 4 * count) if address else b""


def _log_note(_: object, note: bytes) -> None:
    _log.info("%s", note.decode("utf-8", "replace"))


class Stream:
    """A call on a thread of its own.

    The thread holds this object, and not who reads from it: readers end the call when they end.
    """

    def __init__(self, handle: Handle, call: Callable[[int, Any], Any], told: Tuple[str, ...]) -> None:
        """Takes call(address, calls), whose value is the last event, ("end", value), or else ("error", exception)."""
        self.cancelled = False
        self.ended = threading.Event()
        self._events: "queue.SimpleQueue[Event]" = queue.SimpleQueue()
        self._handle = handle
        self._call = call
        self._told = told
        self._process = os.getpid()

    def require_open(self) -> None:
        """Raises Error where what the call is of is closed."""
        self._handle.require_open()

    def start(self) -> None:
        threading.Thread(target=self._run, name="mote", daemon=True).start()

    def _stop(self, _: object) -> int:
        return 1 if self.cancelled or self._handle.closed else 0

    def _calls(self) -> mote_host_calls:
        calls = mote_host_calls(stop=_Callback["stop"](self._stop))
        for name in self._told:
            setattr(calls, name, _Callback[name](getattr(self, f"_put_{name}")))
        if notes_wanted():
            calls.note = _Callback["note"](_log_note)
        return calls

    def _put_text(self, _: object, text: int, count: int, token: int) -> None:
        self._events.put(("text", (_text_at(text, count), token)))

    def _put_segment(self, _: object, text: int, count: int, begin: float, end: float) -> None:
        self._events.put(("segment", (_text_at(text, count), begin, end)))

    def _put_partial(self, _: object, text: int, count: int, agreed: int) -> None:
        whole = ctypes.string_at(text, count) if count else b""
        self._events.put(("partial", (whole.decode("utf-8", "replace"), whole[:agreed].decode("utf-8", "replace"))))

    def _put_samples(self, _: object, samples: int, count: int, rate: int) -> None:
        self._events.put(("samples", (_samples_at(samples, count), rate)))

    def _put_progress(self, _: object, stage: bytes, part: float) -> None:
        self._events.put(("progress", (stage.decode("utf-8", "replace"), part)))

    def _run(self) -> None:
        last: Event
        try:
            address = self._handle.enter()
            try:
                last = ("end", self._call(address, self._calls()))
            finally:
                self._handle.leave()
        except BaseException as error:
            last = ("error", self._reason(error))
        self.ended.set()
        self._events.put(last)

    def _reason(self, error: BaseException) -> BaseException:
        if isinstance(error, Cancelled) and self._handle.closed:
            return Error(f"the {self._handle.what} was closed during the call")
        return error

    def next_event(self) -> Event:
        """Returns what the call tells next; waits for it. Ends the call where a signal's handler raises."""
        if self._process != os.getpid():
            raise Error("this process is a fork of the one that began the call, whose thread it has not")
        try:
            event = self._events.get()
        except BaseException:
            self.cancelled = True
            raise
        if event[0] in ("end", "error"):
            self._events.put(event)  # for another thread that waits
        return event

    def events(self) -> Iterator[Event]:
        """Gives events up to ("end", value); raises what the call raised."""
        while True:
            event = self.next_event()
            if event[0] == "error":
                raise event[1]
            yield event
            if event[0] == "end":
                return


def told(handle: Handle, call: Callable[[int, Any], Any], listeners: Dict[str, Optional[Callable[..., None]]]) -> Any:
    """Returns the value of a call; calls the listeners, on this thread, with what it tells."""
    heard = {name: listener for name, listener in listeners.items() if listener is not None}
    stream = Stream(handle, call, tuple(heard))
    value = None
    try:
        stream.start()
        for kind, given in stream.events():
            if kind == "end":
                value = given
            else:
                heard[kind](*given)
    finally:
        stream.cancelled = True
    return value
