# SPDX-License-Identifier: Apache-2.0
"""Keywords of calls as the JSON object that the library takes."""
import json
import os
from typing import Any, Callable, Mapping, Optional, Tuple, TypedDict

import numpy as np


class EmbedOptions(TypedDict, total=False):
    """The options of embed."""

    prompt: Optional[str]
    prompt_name: Optional[str]
    truncate: Optional[bool]
    size: Optional[str]


class ClassifyOptions(TypedDict, total=False):
    """The options of classify."""

    top: Optional[int]
    question: Optional[str]
    truncate: Optional[bool]
    pairs: Optional[bool]
    size: Optional[str]


class SummarizeOptions(TypedDict, total=False):
    """The options of summarize."""

    beams: Optional[int]
    tokens: Optional[int]
    speculate: Optional[str]
    speculate_max: Optional[int]
    speculate_match: Optional[int]


class TranslateOptions(SummarizeOptions, total=False):
    """The options of translate."""

    from_: Optional[str]
    to: Optional[str]


class TokenizeOptions(TypedDict, total=False):
    """The options of tokenize."""

    no_special: Optional[bool]
    literal: Optional[bool]


def _listed(value: Any) -> Any:
    return value.tolist()


# The types that JSON does not know, and what makes something of them that it does.
_PLAIN: Tuple[Tuple[Any, Callable[[Any], Any]], ...] = (
    ((np.generic, np.ndarray), _listed),
    (os.PathLike, os.fspath),
    (Mapping, dict),
)


def _plain(value: Any) -> Any:
    """Returns what JSON has for a value that it does not know."""
    for kinds, plain in _PLAIN:
        if isinstance(value, kinds):
            return plain(value)
    raise TypeError(f"an option cannot be a {type(value).__name__}: {value!r}")


def options_json(options: Mapping[str, Any]) -> Optional[bytes]:
    """Returns the options that are not None as JSON, None for none.

    The name of an option is the command's with underscores for dashes; one behind a name is dropped (`from_`).
    """
    given = {name.rstrip("_").replace("_", "-"): value for name, value in options.items() if value is not None}
    if not given:
        return None
    try:
        return json.dumps(given, ensure_ascii=False, allow_nan=False, default=_plain).encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"an option holds half a surrogate pair, which no text has: {error}") from None
    except ValueError as error:
        raise ValueError(f"the options {', '.join(options)} are no JSON: {error}") from None
