# SPDX-License-Identifier: Apache-2.0
"""The shapes of what calls return: the library's JSON."""
from typing import Any, List, NamedTuple, Optional, TypedDict

import numpy as np
import numpy.typing as npt


class Ranked(TypedDict):
    """A text's score, and its place in the texts that were given."""

    score: float
    index: int


class Label(TypedDict):
    label: str
    probability: float


class _Span(TypedDict):
    start: int
    end: int
    text: str
    probability: float


class Span(_Span, total=False):
    """Characters of a text from `start` to the one before `end`."""

    label: str


class Fill(TypedDict):
    id: int
    token: str
    probability: float


class Reading(TypedDict, total=False):
    """What a model's head says of an input: one of the four, by the model's kind."""

    text: str
    labels: List[Label]
    entities: List[Span]
    answers: List[Span]
    masks: List[List[Fill]]


class Box(TypedDict):
    label: str
    probability: float
    box: List[float]


class Detection(TypedDict):
    width: int
    height: int
    boxes: List[Box]


class Tokens(TypedDict):
    """Token ids; for each the characters it came from, its type, and 0 or 1 for its text, None if it was added."""

    ids: List[int]
    offsets: List[List[int]]
    types: List[int]
    texts: List[Optional[int]]


class Word(TypedDict):
    """A word with the space before it, its seconds and the mean probability of its tokens."""

    word: str
    start: float
    end: float
    probability: float


class _Segment(TypedDict):
    text: str
    begin: float
    end: float


class Segment(_Segment, total=False):
    words: List[Word]


class _Transcript(TypedDict):
    text: str


class Transcript(_Transcript, total=False):
    """What is said; segments and words have their seconds."""

    segments: List[Segment]
    words: List[Segment]
    language: Optional[str]
    heard: bool
    damage: Optional[str]


class Hypothesis(TypedDict):
    text: str
    ids: List[int]
    score: float


class Speech(NamedTuple):
    samples: npt.NDArray[np.float32]
    rate: int


class AttentionMap(NamedTuple):
    """The weights of one operation of a program, [heads, rows, keys]; `crosses`: the keys are of the source."""

    program: Any
    op: int
    crosses: bool
    weights: npt.NDArray[np.float32]


class Attention(NamedTuple):
    tokens: List[Any]
    answer_ids: List[int]
    maps: List[AttentionMap]
