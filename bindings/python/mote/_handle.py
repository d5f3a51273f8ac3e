# SPDX-License-Identifier: Apache-2.0
"""What the library holds for a model or a chat, freed when no call uses it any more."""
import atexit
import os
import threading
from typing import Any, Callable, Optional, Set

from ._error import Error

_open: "Set[Handle]" = set()


class Handle:
    """An address of the library's, and the count of the calls that use it.

    A lock that its holder may take again guards the count: the collector may end an object, and so close its handle,
    in the middle of any line here. For that reason enter() counts first and looks then.
    """

    def __init__(
        self,
        address: int,
        free: Callable[[int], Any],
        what: str,
        cancel: Optional[Callable[[int], Any]] = None,
        parent: "Optional[Handle]" = None,
    ) -> None:
        """Takes the address, `free`, which gives it back, and `cancel`, which ends calls in progress."""
        self.address = address
        self.what = what
        self.parent = parent
        self.process = os.getpid()
        self.closed = False  # no call begins any more, those in progress end
        self._free = free
        self._cancel = cancel
        self._calls = 0
        self._freed = False
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._children: Set[Handle] = set()
        if parent is not None:
            parent._children.add(self)
        _open.add(self)

    def enter(self) -> int:
        """Returns the address for a call, which leave() ends. Raises Error once the handle is closed."""
        if self.parent is not None:
            self.parent.enter()
        with self._lock:
            self._calls += 1
            closed = self.closed
        if closed:
            self.leave()
            raise Error(f"the {self.what} is closed")
        return self.address

    def require_open(self) -> None:
        """Raises Error once the handle, or what it is of, is closed."""
        if self.parent is not None:
            self.parent.require_open()
        if self.closed:
            raise Error(f"the {self.what} is closed")

    def leave(self) -> None:
        with self._lock:
            self._calls -= 1
            if self.closed:
                self._free_if_unused()
                self._changed.notify_all()
        if self.parent is not None:
            self.parent.leave()

    def close(self, wait: bool = True) -> None:
        """Ends calls in progress and frees the address. Without `wait` the last of these calls frees it."""
        self.closed = True
        for child in list(self._children):
            child.close(wait)
        with self._lock:
            while self._calls:
                if self._cancel is not None:
                    self._cancel(self.address)
                if not wait:
                    return
                self._changed.wait(0.05)
            self._free_if_unused()

    def _free_if_unused(self) -> None:
        if self._calls or self._freed:
            return
        self._freed = True
        self._free(self.address)
        _open.discard(self)
        if self.parent is not None:
            self.parent._children.discard(self)

    def forget_calls(self) -> None:
        """Forgets, in a child of fork(), the calls of threads that it does not have."""
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._calls = 0


def _forget_calls() -> None:
    for handle in list(_open):
        handle.forget_calls()


def _close_all() -> None:
    """Ends, before the interpreter does, the calls whose threads would come back to it."""
    for handle in list(_open):
        if handle.parent is None:
            handle.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_calls)
atexit.register(_close_all)
