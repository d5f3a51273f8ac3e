# SPDX-License-Identifier: Apache-2.0
"""Objects that hold something of the library's and close."""
from types import TracebackType
from typing import Optional, Type, TypeVar

from ._handle import Handle

T = TypeVar("T", bound="Owner")


class Owner:
    """What has a handle: it closes by close(), at the end of `with`, or when nobody holds it."""

    _handle: Handle

    @property
    def closed(self) -> bool:
        return self._handle.closed

    def close(self) -> None:
        """Ends calls in progress and gives back what the library holds, a model's chats first. Later calls raise Error."""
        self._handle.close()

    def __enter__(self: T) -> T:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def __del__(self) -> None:
        handle = getattr(self, "_handle", None)
        if handle is not None:
            handle.close(wait=False)
