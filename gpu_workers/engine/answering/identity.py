"""What an answer keeps of the way in which it was made: the prompts' digest and the settings."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from gpu_workers.engine.answering.catalogue import METHOD_SETTINGS
from gpu_workers.engine.answering.presets import SearchSettings
from gpu_workers.engine.prompts import load

QUESTION_PROMPTS = frozenset({"condense", "translate", "answer_language"})
"""Prompts of every method: for a question with a history, and for one that is not in English."""

READING_PROMPTS = frozenset({"read_question", "read_again"})
"""Prompts of the call that reads a question of the method with routes."""

COMPOSE_PROMPTS = frozenset(
    {"compose_rules", "compose_question", "compose_revise"}
    | {f"compose_{shape}" for shape in ("list", "steps", "table", "count", "summary")}
)
OBSERVE_PROMPTS = frozenset({"observe", "observe_measured", "observe_view"})
CHECK_PROMPTS = frozenset({"check", "check_observed", "check_view"})
CITATION_PROMPTS = OBSERVE_PROMPTS | {"verify"} | COMPOSE_PROMPTS
JUDGE_PROMPTS = frozenset({"judge_events", "judge_event", "judge_both_sides"})
ANSWER_PROMPTS = frozenset({"answer_rules", "answer_question", "answer_repair"})


def prompts_digest(names: Iterable[str], profile: str = "general") -> str:
    """Return 16 hex digits over the wording of these prompts in a profile. They change with any change of a word."""
    texts = [(name, load(name, profile).template) for name in sorted(set(names))]
    return hashlib.sha256(repr(texts).encode()).hexdigest()[:16]


def settings_of_answer(settings: SearchSettings, method: str) -> dict[str, Any]:
    """Return the settings that an answer was made with, JSON-serialisable: those of the search, and under "method" the
    method's own, if it has some."""
    stored = asdict(settings) | {"retrieval": asdict(settings.retrieval)}
    stored["retrieval"]["weights"] = dict(settings.retrieval.weights)
    own: Mapping[Any, Any] = METHOD_SETTINGS.get(method, {})
    return stored | ({"method": asdict(own[settings.effort])} if own else {})


def verdict_key(statement: str, *, model: str, profile: str, events: int, both_sides: bool = False) -> str:
    """Return 64 hex digits that change with the statement's words, the model, the wording of its prompt, or the number
    of events that one call judges.

    events: 0 for the odds of one event. Verdicts of a list say other things of an event than its own odds do. Case and
    space of the statement change nothing. both_sides: whether a call also says which events deny the statement.
    """
    wording = prompts_digest(JUDGE_PROMPTS, profile)
    parts = (" ".join(statement.casefold().split()), model, wording, str(events), *(["both"] if both_sides else []))
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()
