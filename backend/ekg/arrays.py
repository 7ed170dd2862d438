"""Arrays as PostgreSQL reads them. psycopg would quote their elements one by one, which costs a search milliseconds."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

EMPTY_ARRAY = "{}"


def uuid_array(ids: Iterable[UUID]) -> str:
    """Return the text of a uuid[]."""
    return f"{{{','.join([id.hex for id in ids])}}}"


def packed_uuid_array(ids: NDArray[np.void]) -> str:
    """Return the text of a uuid[] from ids of 16 bytes each, shape (n,)."""
    return f"{{{ids.tobytes().hex(',', 16)}}}"


def number_array(numbers: Iterable[int]) -> str:
    """Return the text of an array of whole numbers."""
    return f"{{{','.join(map(str, numbers))}}}"
