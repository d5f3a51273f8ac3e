# SPDX-License-Identifier: Apache-2.0
"""Conversations."""
import ctypes
import os
from typing import Any, Optional, Sequence, Union

from ._answer import Answer
from ._calls import run_short
from ._error import Error
from ._handle import Handle
from ._inputs import Inputs, Picture
from ._library import host
from ._owner import Owner
from ._reply import Reply
from ._stream import Stream


class Chat(Owner):
    """A conversation with a model, which Model.chat() begins. It serves one message at a time."""

    def __init__(self, model: object, handle: Handle, options: Optional[bytes]) -> None:
        address = ctypes.c_void_p()
        library = host()
        with run_short(handle, library.mote_host_chat_begin, options, ctypes.byref(address)) as reply:
            self.begun: "dict[str, Any]" = reply.json()  # {"defaults", "context", "arena_bytes", "isa"}
        assert address.value is not None
        self._model = model
        self._handle = Handle(address.value, library.mote_host_chat_end, "chat", parent=handle)
        self._stream: Optional[Stream] = None  # of the last answer

    def say(self, message: str, *, images: Sequence[Picture] = ()) -> Answer:
        """Returns the answer to a message, before which pictures may stand, part by part.

        A second message while an answer is computed is an Error; one after a cancelled answer waits for its end.
        """
        inputs = Inputs(1 + len(images))
        inputs.set_text(0, message, "message")
        for at, image in enumerate(images):
            inputs.set_picture(1 + at, image)
        self._let_go()
        say = host().mote_host_chat_say

        def call(address: int, calls: Any) -> Any:
            with Reply(say(address, *inputs.arguments(), ctypes.byref(calls))) as reply:
                return reply.json()

        stream = Stream(self._handle, call, ("text",))
        answer = Answer(stream, self)
        self._stream = stream
        return answer

    def reset(self) -> None:
        """Begins another conversation."""
        self._let_go()
        with run_short(self._handle, host().mote_host_chat_reset):
            pass

    def save_state(self) -> bytes:
        """Returns the turns, and what is computed of them."""
        self._let_go()
        with run_short(self._handle, host().mote_host_chat_save) as reply:
            return reply.bytes()

    def load_state(self, state: Union[bytes, bytearray, memoryview]) -> None:
        """Goes on from a saved state of a chat with the same model and options. A failed load changes nothing."""
        if not isinstance(state, (bytes, bytearray, memoryview)):
            raise TypeError(f"a state is bytes, not a {type(state).__name__}")
        held = bytes(state)
        self._let_go()
        with run_short(self._handle, host().mote_host_chat_load, held, len(held)):
            pass

    def _let_go(self) -> None:
        """Waits for the end of a cancelled answer."""
        if self._handle.process != os.getpid():
            raise Error("this process is a fork of the one that began the chat: begin another chat")
        stream = self._stream
        if stream is not None and stream.cancelled:
            stream.ended.wait()
