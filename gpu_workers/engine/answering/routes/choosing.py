"""The choice of a question that is a number."""

from __future__ import annotations

import re
from collections.abc import Sequence


def chosen_by_number(choices: Sequence[str], number: int) -> int | None:
    """Return the only choice that consists of this number; None if none or several do, or if a choice has no number."""
    numbers = [re.findall(r"\d+", choice) for choice in choices]
    if any(len(found) != 1 for found in numbers):
        return None
    fitting = [index for index, found in enumerate(numbers) if int(found[0]) == number]
    return fitting[0] if len(fitting) == 1 else None
