"""What the audit log records of the keys, invitations, webhook endpoints and shares of a maker that goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from backend.api.public_ids import encode
from backend.tenancy.makers import MadeThing

LOGGED = 100
"""Maximum number of things that one entry of the audit log names."""


@dataclass(frozen=True, slots=True)
class MadeThings:
    """What ended with a maker, and what goes on without it."""

    ended: Sequence[MadeThing]
    left: Sequence[MadeThing]

    @classmethod
    def divided(cls, things: Sequence[MadeThing], *, all_end: bool) -> MadeThings:
        """Divide the things of a maker. all_end: whether the caller ends what would go on."""
        left = [] if all_end else [one for one in things if not one.ends_with_maker]
        return cls([one for one in things if all_end or one.ends_with_maker], left)

    @property
    def details(self) -> dict[str, Any]:
        named = {"ended": self.ended, "left": self.left}
        return {name: [encode(one.prefix, one.id) for one in rows[:LOGGED]] for name, rows in named.items() if rows}
