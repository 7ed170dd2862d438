"""The reply to a request of many questions of which some are refused."""

from __future__ import annotations

from collections.abc import Sequence

from backend.api.problems import FieldError, Problem
from backend.tenancy.refusals import Refused

NOT_YET = "nothing_indexed"
"""Code of a refusal that time alone ends."""


def refused_parts(faults: Sequence[tuple[str, Refused]]) -> Problem:
    """Return the problem with each fault at its pointer: 409 if all that is wrong is that nothing is indexed yet, as
    for a single question, else 400."""
    errors = [FieldError(pointer, fault.code, fault.detail) for pointer, fault in faults]
    if all(fault.code == NOT_YET for _, fault in faults):
        return Problem(409, NOT_YET, faults[0][1].detail, errors=errors)
    return Problem(400, "invalid_request", "The request is not valid.", errors=errors)
