# SPDX-License-Identifier: Apache-2.0
"""Ends a call of the main thread when a signal's handler raises, as that of Ctrl-C does.

Python runs handlers of signals on the main thread, between two of its own instructions: a call into the library holds them
up. The library asks `stop` between its steps. A function in Python would be no answer, since the handler may raise
before its first line, where ctypes drops exceptions. A generator that waits inside `try` has no such line. PyPy's ctypes is
itself Python and has such lines: there calls of the main thread run on another.
"""
import os
import sys
import threading
from typing import Any, Generator, List, cast

from ._declarations import mote_host_calls

_Stop: Any = dict(cast(Any, mote_host_calls._fields_))["stop"]


_IN_C = sys.implementation.name == "cpython"  # ctypes is
_main = threading.main_thread().ident


def on_main_thread() -> bool:
    return threading.get_ident() == _main


def works_here() -> bool:
    """Says whether a call on this thread can be ended by the handler of a signal, or need not be."""
    return _IN_C or not on_main_thread()


def _find_main_thread() -> None:
    """Notes the main thread of a child of fork(): the thread that called it."""
    global _main
    _main = threading.get_ident()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_find_main_thread)


def _answers(raised: List[BaseException]) -> Generator[int, object, None]:
    """Gives 0 until a handler raises, then 1. A handler may raise again."""
    try:
        try:
            while True:
                yield 0
        except GeneratorExit:
            return
        except BaseException as error:
            raised.append(error)
        while True:
            yield 1
    except GeneratorExit:
        return
    except BaseException as error:
        raised.append(error)
    while True:
        yield 1


class Interrupt:
    """A `stop` for one call at a time of the main thread, and what a handler raised meanwhile."""

    def __init__(self) -> None:
        self.raised: List[BaseException] = []
        answers = _answers(self.raised)
        next(answers)
        self.stop = _Stop(answers.send)
        self.calls = mote_host_calls(stop=self.stop)


_idle: List[Interrupt] = []


def take() -> Interrupt:
    """Returns one that no call has, best one that a call has given back."""
    try:
        return _idle.pop()
    except IndexError:
        return Interrupt()


def give_back(interrupt: Interrupt) -> None:
    """Keeps it for the next call, or raises what a handler raised."""
    if interrupt.raised:
        raise interrupt.raised[0] from None
    _idle.append(interrupt)
