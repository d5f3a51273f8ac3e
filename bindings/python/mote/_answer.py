# SPDX-License-Identifier: Apache-2.0
"""Texts that come while they are computed."""
from typing import Any, Iterator, Optional

from ._stream import Stream


class Answer(Iterator[str]):
    """The parts of an answer, as they are computed: `for part in answer: print(part, end="")`.

    The answer is computed on a thread of its own, ahead of who reads. It ends early by cancel(), and when nobody holds
    this object any more.
    """

    def __init__(self, stream: Stream, keeps: object) -> None:
        """Starts the stream. Raises Error where its model or chat is closed."""
        stream.require_open()
        self._stream = stream
        self._keeps = keeps  # the model or chat, which stays open meanwhile
        self._parts: "list[str]" = []
        self._result: "Optional[dict[str, Any]]" = None
        self._error: Optional[BaseException] = None
        self._stream.start()

    def __iter__(self) -> "Answer":
        return self

    def __next__(self) -> str:
        while self._result is None and self._error is None:
            kind, given = self._stream.next_event()
            if kind == "text":
                part: str = given[0]
                if part:
                    self._parts.append(part)
                    return part
            elif kind == "end":
                self._result = given
            else:
                self._error = given
                raise given
        raise StopIteration

    def cancel(self) -> None:
        """Ends the computation within one bounded step. What was computed is still read; then the answer ends."""
        self._stream.cancelled = True

    def read(self) -> str:
        """Returns the whole text, once it is computed."""
        for _ in self:
            pass
        if self._error is not None:
            raise self._error
        return "".join(self._parts)

    @property
    def result(self) -> "dict[str, Any]":
        """What the library says of the whole answer: "text", "finish", "prompt_ids", "output_ids", "prompt_ms" and more.

        Waits for its end.
        """
        self.read()
        assert self._result is not None
        return self._result

    def __del__(self) -> None:
        stream = getattr(self, "_stream", None)
        if stream is not None:
            stream.cancelled = True
