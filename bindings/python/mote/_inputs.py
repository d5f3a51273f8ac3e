# SPDX-License-Identifier: Apache-2.0
"""Texts, sounds, pictures and ids as the structs that calls take. Everything is checked here, before the library is called."""
import ctypes
import os
from typing import TYPE_CHECKING, Any, Iterator, List, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from ._declarations import mote_host_input

if TYPE_CHECKING:
    from typing_extensions import TypeGuard

Path = Union[str, "os.PathLike[str]"]
# A file's path, its bytes, or pixels [height, width, 3] of red, green and blue.
Picture = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, npt.NDArray[np.uint8]]
# A file's path, its bytes, or samples from -1 to 1 of one channel, whose rate is a keyword of the call.
Sound = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, npt.NDArray[np.float32], npt.NDArray[np.float64]]
Ids = Union[Sequence[int], npt.NDArray[np.integer[Any]]]


# Several inputs. A str is one.
Texts = Union[List[str], Tuple[str, ...], Iterator[str]]


def text_bytes(text: Any, name: str = "text") -> bytes:
    """Returns a text's UTF-8. Raises TypeError for what is no text, ValueError for one that is no Unicode."""
    if not isinstance(text, str):
        raise TypeError(f"the {name} is a {type(text).__name__}, not a str")
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"the {name} has half a surrogate pair at character {error.start}, which no text has"
        ) from None


def path_bytes(path: Any) -> bytes:
    """Returns the bytes of a path. Raises TypeError for what is none, ValueError for one that no file can have."""
    encoded = os.fsencode(path)
    if b"\0" in encoded:
        raise ValueError(f"the path {path!r} has a zero in it, which no file's name has")
    return encoded


class Inputs:
    """An array of mote_host_input, and what its members point to."""

    __slots__ = ("array", "count", "alone", "held")

    def __init__(self, count: int, alone: bool = False) -> None:
        """Takes their count; `alone` says that the function takes one input without a count."""
        self.array = (mote_host_input * count)()
        self.count = count
        self.alone = alone
        self.held: List[Any] = []

    def arguments(self) -> Tuple[Any, ...]:
        return (self.array,) if self.alone else (self.array, self.count)

    def set_text(self, at: int, text: Any, name: str = "text") -> None:
        data = text_bytes(text, name)
        self.held.append(data)
        place = self.array[at]
        place.text = data
        place.text_bytes = len(data)

    def set_ids(self, at: int, ids: Any) -> None:
        array = ids_array(ids)
        self.held.append(array)
        place = self.array[at]
        place.ids = array.ctypes.data
        place.id_count = array.size

    def set_path(self, at: int, path: Any) -> None:
        data = path_bytes(path)
        self.held.append(data)
        self.array[at].path = data

    def set_data(self, at: int, data: Any) -> None:
        raw = bytes(data)
        if not raw:
            raise ValueError("a file's bytes are empty")
        self.held.append(raw)
        place = self.array[at]
        place.data = ctypes.cast(ctypes.c_char_p(raw), ctypes.c_void_p)
        place.data_bytes = len(raw)

    def set_picture(self, at: int, picture: Any) -> None:
        if is_array(picture):
            pixels = pixels_array(picture)
            self.held.append(pixels)
            place = self.array[at]
            place.pixels = pixels.ctypes.data
            place.height, place.width = pixels.shape[:2]
        elif isinstance(picture, (bytes, bytearray, memoryview)):
            self.set_data(at, picture)
        elif isinstance(picture, (str, os.PathLike)):
            self.set_path(at, picture)
        else:
            raise TypeError(
                f"a picture is a path, a file's bytes or an array of uint8, not a {type(picture).__name__}"
            )

    def set_sound(self, at: int, sound: Any, rate: Optional[int]) -> None:
        if is_array(sound):
            samples = samples_array(sound)
            self.held.append(samples)
            place = self.array[at]
            place.samples = samples.ctypes.data
            place.sample_count = samples.size
            place.rate = checked_rate(rate)
        elif rate is not None:
            raise ValueError("a rate goes with an array of samples; a file says its own")
        elif isinstance(sound, (bytes, bytearray, memoryview)):
            self.set_data(at, sound)
        elif isinstance(sound, (str, os.PathLike)):
            self.set_path(at, sound)
        else:
            raise TypeError(
                f"a sound is a path, a file's bytes or an array of floats, not a {type(sound).__name__}"
            )


def is_array(value: Any) -> "TypeGuard[npt.NDArray[Any]]":
    return isinstance(value, np.ndarray)


def text_inputs(texts: Sequence[Any]) -> Inputs:
    """Returns inputs of texts."""
    inputs = Inputs(len(texts))
    held = inputs.held
    at = 0
    try:
        for place, text in zip(inputs.array, texts):
            place.text = data = str.encode(text)
            place.text_bytes = len(data)
            held.append(data)
            at += 1
    except (TypeError, UnicodeEncodeError):
        inputs.set_text(at, texts[at], f"text {at}")
    return inputs


def ids_array(ids: Any) -> npt.NDArray[np.int32]:
    """Returns token ids as int32. Raises TypeError for other numbers, ValueError for more sides and out of range."""
    array = np.asarray(ids)
    if array.size == 0:
        raise ValueError("there are no token ids")
    if array.dtype.kind not in "iu":
        raise TypeError(f"token ids are integers, not {array.dtype}")
    if array.ndim != 1:
        raise ValueError(f"token ids have one side, not the shape {array.shape}")
    if array.min() < -(2**31) or array.max() >= 2**31:
        raise ValueError("a token id has more than 32 bits")
    return np.ascontiguousarray(array, np.int32)


def pixels_array(picture: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """Returns pixels in row-major order. Raises TypeError and ValueError for others than uint8 [height, width, 3]."""
    if picture.dtype != np.uint8:
        raise TypeError(f"a picture's pixels are uint8, not {picture.dtype}")
    if picture.ndim != 3 or picture.shape[2] != 3 or 0 in picture.shape:
        raise ValueError(f"a picture's pixels are [height, width, 3], not {list(picture.shape)}")
    return np.ascontiguousarray(picture)


def samples_array(sound: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Returns samples as float32. Raises TypeError for other than floats, ValueError for more than one channel."""
    if sound.dtype.kind != "f" or sound.dtype.itemsize > 8:
        raise TypeError(f"samples are floats from -1 to 1, not {sound.dtype}")
    if sound.ndim != 1:
        raise ValueError(f"samples have one channel, not the shape {list(sound.shape)}; take the mean of channels")
    if sound.size == 0:
        raise ValueError("there are no samples")
    samples = np.ascontiguousarray(sound, np.float32)
    if not np.isfinite(samples).all():
        raise ValueError("a sample is no finite number")
    return samples


def checked_rate(rate: Any) -> int:
    """Returns the samples a second. Raises TypeError for none and ValueError for what is no rate."""
    given: Any = rate
    if rate is None or isinstance(rate, bool) or not isinstance(rate, (int, np.integer)):
        raise TypeError("an array of samples needs its rate, an integer of samples a second: rate=16000")
    if not 0 < rate < 2**32:
        raise ValueError(f"{rate} is no rate of samples")
    return int(given)


def one_or_more(value: Any, single: Tuple[type, ...]) -> Tuple[List[Any], bool]:
    """Returns the values as a list, and whether there was one alone."""
    if is_array(value) and (value.dtype.kind in "UOT" or value.ndim == 4):  # texts, pictures
        return list(value.tolist() if value.ndim == 1 else value), False
    given: Any = value
    if isinstance(value, single):
        return [given], True
    try:
        return list(given), False
    except TypeError:
        raise TypeError(f"a {type(value).__name__} is neither an input nor several") from None
