# SPDX-License-Identifier: Apache-2.0
"""Keywords of calls as the JSON object that the library takes."""
import json
import os
from typing import Any, Mapping, Optional

import numpy as np


def _plain(value: Any) -> Any:
    """Returns what JSON has for a value that it does not know."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return dict(value)
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
