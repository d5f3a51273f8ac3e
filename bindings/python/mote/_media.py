# SPDX-License-Identifier: Apache-2.0
"""Calls over sounds and pictures."""
import os
from typing import Any, Callable, Iterator, List, Optional, Tuple, Union, overload

import numpy as np
import numpy.typing as npt

from ._base import Base
from ._calls import Listeners, run
from ._inputs import Ids, Inputs, Path, Picture, Sound, one_or_more
from ._library import host
from ._options import options_json
from ._reply import Reply
from ._types import Detection, Speech, Transcript

_SINGLE = (str, bytes, bytearray, memoryview, os.PathLike, np.ndarray)


class MediaCalls(Base):
    """Speech to text, text to speech, boxes and depths."""

    def transcribe(
        self,
        sound: Union[Sound, Picture],
        rate: Optional[int] = None,
        *,
        language: Optional[str] = None,
        translate: Optional[bool] = None,
        to: Optional[str] = None,
        on_text: Optional[Callable[[str], None]] = None,
        on_segment: Optional[Callable[[str, float, float], None]] = None,
        on_partial: Optional[Callable[[str, str], None]] = None,
        **options: Any,
    ) -> Transcript:
        """Returns what is said in a file, a file's bytes or samples of a rate, or what a picture of text says.

        `on_text` gets each passage and `on_segment` each segment with its seconds as they are known. `on_partial` gets
        the text of a stretch of speech that goes on, and what of it the text before had too, of a sound that comes live.
        """
        inputs = Inputs(1, alone=True)
        if self._takes_pictures:
            inputs.set_picture(0, sound)
        else:
            inputs.set_sound(0, sound, rate)
        json = options_json({"language": language, "translate": translate, "to": to, **options})
        if on_partial is not None:
            json = options_json({"language": language, "translate": translate, "to": to, "live": True, "partial": True, **options})
        listeners: Listeners = {"text": _without_id(on_text), "segment": on_segment, "partial": on_partial}
        found: Transcript = run(self._handle, host().mote_host_transcribe, inputs, json, Reply.json, listeners)
        return found

    def speak(
        self,
        text: Union[str, Ids],
        *,
        seed: Optional[int] = None,
        speed: Optional[float] = None,
        speaker: Union[int, str, None] = None,
        on_samples: Optional[Callable[[npt.NDArray[np.float32], int], None]] = None,
        **options: Any,
    ) -> Speech:
        """Returns the samples of a text that is said, and their rate. `on_samples` gets them as they are made."""
        inputs = Inputs(1, alone=True)
        if isinstance(text, str):
            inputs.set_text(0, text)
        else:
            inputs.set_ids(0, text)
        json = options_json({"seed": seed, "speed": speed, "speaker": speaker, **options})
        listeners: Listeners = {"samples": _as_array(on_samples)}
        return run(self._handle, host().mote_host_speak, inputs, json, _speech, listeners)

    @overload
    def detect(self, pictures: Picture, *, threshold: Optional[float] = None, **options: Any) -> Detection: ...

    @overload
    def detect(
        self, pictures: Union[List[Picture], Tuple[Picture, ...], Iterator[Picture]], *, threshold: Optional[float] = None, **options: Any
    ) -> List[Detection]: ...

    def detect(self, pictures: Any, *, threshold: Optional[float] = None, **options: Any) -> Any:
        """Returns the boxes of a picture, the likeliest first, or a list of it for several pictures."""
        values, alone = one_or_more(pictures, _SINGLE)
        inputs = Inputs(len(values))
        for at, value in enumerate(values):
            inputs.set_picture(at, value)
        json = options_json({"threshold": threshold, **options})
        found: List[Detection] = run(self._handle, host().mote_host_detect, inputs, json, Reply.json)
        return found[0] if alone else found

    def depth(self, picture: Picture, *, output: Optional[Path] = None, **options: Any) -> npt.NDArray[np.float32]:
        """Returns how far each pixel is, float32 [height, width]; with `output`, a PNG that gets them, the empty array."""
        inputs = Inputs(1, alone=True)
        inputs.set_picture(0, picture)
        return run(self._handle, host().mote_host_depth, inputs, options_json({"output": output, **options}), _depths)


def _without_id(on_text: Optional[Callable[[str], None]]) -> Optional[Callable[[str, int], None]]:
    """Returns a listener to passages and the ids of their tokens."""
    if on_text is None:
        return None
    heard = on_text

    def on_passage(text: str, _: int) -> None:
        heard(text)

    return on_passage


def _as_array(
    on_samples: Optional[Callable[[npt.NDArray[np.float32], int], None]],
) -> Optional[Callable[[bytes, int], None]]:
    """Returns a listener to samples as bytes."""
    if on_samples is None:
        return None
    heard = on_samples

    def on_bytes(data: bytes, rate: int) -> None:
        heard(np.frombuffer(data, np.float32), rate)

    return on_bytes


def _depths(reply: Reply) -> npt.NDArray[np.float32]:
    return reply.values(2)


def _speech(reply: Reply) -> Speech:
    return Speech(reply.values(1), reply.json()["rate"])
