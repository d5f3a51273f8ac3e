# SPDX-License-Identifier: Apache-2.0
"""What all calls of a model share."""
import sys
from typing import Any, Callable, List, Optional, Union

from ._handle import Handle
from ._inputs import Inputs, text_inputs

# Told how many of all inputs are done; True draws a line on standard error, when that is a terminal.
Progress = Union[None, bool, Callable[[int, int], None]]


class Base:
    """A model's handle, and what its file says."""

    _handle: Handle
    _width: int  # of a vector
    _takes_pictures: bool
    _takes_sounds: bool

    def _inputs(self, values: List[Any], rate: Optional[int] = None) -> Inputs:
        """Returns inputs as the model takes them: pictures, sounds, or texts."""
        if not (self._takes_pictures or self._takes_sounds):
            return text_inputs(values)
        inputs = Inputs(len(values))
        for at, value in enumerate(values):
            if self._takes_pictures:
                inputs.set_picture(at, value)
            else:
                inputs.set_sound(at, value, rate)
        return inputs


def reporter(progress: Progress) -> Optional[Callable[[int, int], None]]:
    """Returns what shows progress, None where nobody looks."""
    if progress is None:
        return None
    if callable(progress):
        return progress
    if not progress or not sys.stderr.isatty():
        return None

    def draw(done: int, of: int) -> None:
        sys.stderr.write(f"\r{done} of {of}" + ("\n" if done >= of else ""))
        sys.stderr.flush()

    return draw


def checked_count(value: Any, name: str) -> int:
    """Returns a positive integer. Raises TypeError and ValueError for others."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} is an integer, not a {type(value).__name__}")
    if value < 1:
        raise ValueError(f"{name} is {value}; it is at least 1")
    return value
