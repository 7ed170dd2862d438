"""Why a part of a recording has no description, in words for customers. docs/errors.md lists the codes."""

from __future__ import annotations

_REASONS = {
    "no_frames": "the recording has no pictures there",
    "source_undecodable": "this part of the file cannot be decoded",
    "source_unreadable": "this part of the file could not be read",
    "model_refused": "the model declined to describe it",
    "invalid_output": "the answer of the model could not be read",
    "model_timeout": "the model did not answer in time",
    "model_unavailable": "the model could not be reached",
    "deadline_exceeded": "the work was not done in time",
    "canceled": "indexing was canceled",
}


def gap_reason(code: str) -> str:
    """Return the reason behind the code of a gap; a code without words of its own is returned as it is."""
    return _REASONS.get(code, code)
