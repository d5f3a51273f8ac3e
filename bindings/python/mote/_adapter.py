# SPDX-License-Identifier: Apache-2.0
"""What the classes after other packages' share: a model, its prompts for queries and documents, arguments that are refused."""
import os
from typing import Any, List, Mapping, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from ._model import Model, open_model

Vectors = npt.NDArray[np.float32]
ModelOrPath = Union[Model, str, "os.PathLike[str]"]
QUERY = ("query",)
DOCUMENT = ("document", "passage", "corpus")


def opened(model: ModelOrPath, options: Mapping[str, Any]) -> Model:
    """Returns the model, or the one in a file, opened with the options."""
    if not isinstance(model, Model):
        return open_model(model, **options)
    if options:
        raise TypeError(f"{', '.join(options)} open a file; the model is open")
    return model


def refuse(given: Mapping[str, Any]) -> None:
    """Raises TypeError that names the first argument which mote does not support: whose value is neither None nor False."""
    for name, value in given.items():
        if value is not None and value is not False:
            raise TypeError(f"mote does not support the argument {name}={value!r}")


def prompt_of(model: Model, names: Sequence[str]) -> Optional[str]:
    """Returns the first of the names that a prompt of the model has."""
    held = model.info()["prompts"]
    return next((name for name in names if name in held), None)


def as_lists(vectors: Vectors) -> List[List[float]]:
    lists: List[List[float]] = vectors.tolist()
    return lists
