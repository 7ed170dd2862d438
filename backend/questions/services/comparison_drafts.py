"""Comparisons before they are saved: every fault of a request named, and the order in which arms are asked."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

from backend.library.models import Video
from backend.questions.models import ComparisonItem
from backend.questions.queries.scopes import ScopeWish, require_indexed, resolve_many
from backend.questions.services.drafts import check_choices, check_method, check_span, check_text
from backend.tenancy.context import current_tenant_id
from backend.tenancy.refusals import Refused, invalid

MIN_ARMS, MAX_ARMS = 2, 8
MAX_QUESTIONS = 2_000
"""Maximum of items times arms times repeats."""
MAX_SCOPE_ROWS = 100_000
"""Maximum of questions times videos: each pair is a row."""


class ComparisonRefused(Exception):
    """A comparison that was not written. faults: every fault, each with the pointer of the value at fault."""

    def __init__(self, faults: Sequence[Refused]) -> None:
        super().__init__(f"{len(faults)} faults")
        self.faults = tuple(faults)


@dataclass(frozen=True, slots=True)
class Draft:
    """A comparison's parts, checked and not yet saved. scopes: the videos of each item, in the order of the items."""

    arms: list[dict[str, str]]
    items: list[ComparisonItem]
    scopes: list[list[Video]]


def draft(*, questions: Sequence[Mapping[str, Any]], arms: Sequence[Mapping[str, str]], repeats: int) -> Draft:
    """Check all parts of a comparison and return them.

    questions: {text, choices, video_ids | collection_id, start_ms, end_ms, correct_choice, correct_answer, evidence,
    kind, external_id}. arms: {method, effort, check, label}; an empty label is replaced by the arm's own words.
    Raises ComparisonRefused with every fault.
    """
    faults: list[Refused] = []
    checked_arms = _arms(arms, faults)
    items, scopes = _items(questions, faults)
    total = len(questions) * len(arms) * repeats
    if total > MAX_QUESTIONS:
        detail = f"Items times arms times repeats are {total}; a comparison asks at most {MAX_QUESTIONS} questions."
        faults.append(invalid(pointer="/questions", code="too_many_questions", detail=detail))
    elif sum(len(videos) for videos in scopes) * len(arms) * repeats > MAX_SCOPE_ROWS:
        detail = f"The questions span at most {MAX_SCOPE_ROWS} videos, each counted once per question, arm and repeat."
        faults.append(invalid(pointer="/questions", code="comparison_too_wide", detail=detail))
    if faults:
        raise ComparisonRefused(faults)
    return Draft(checked_arms, items, scopes)


def latin_square(n: int, seed: int) -> list[list[int]]:
    """Return n orders of n arms, in which each arm has each position once. seed: decides which square it is."""
    chance = random.Random(seed)
    arms, rows = list(range(n)), list(range(n))
    chance.shuffle(arms)
    chance.shuffle(rows)
    return [[arms[(row + position) % n] for position in range(n)] for row in rows]


@contextmanager
def _noted(faults: list[Refused], pointer: str, below: str = "") -> Iterator[None]:
    """Add a refusal to the faults, its pointer below the given one, instead of raising it."""
    try:
        yield
    except Refused as refused:
        full = f"{pointer}{below}{refused.pointer or ''}"
        faults.append(Refused(refused.code, refused.detail, status=refused.status, pointer=full))


# --- arms -------------------------------------------------------------------------------------------------------------


def _arms(arms: Sequence[Mapping[str, str]], faults: list[Refused]) -> list[dict[str, str]]:
    checked: list[dict[str, str]] = []
    for n, arm in enumerate(arms):
        method, effort, check = arm["method"], arm["effort"], arm["check"]
        with _noted(faults, f"/arms/{n}"):
            check_method(method, check)
        words = [method, effort] if check == "auto" else [method, effort, check]
        label = arm.get("label", "").strip() or " ".join(words)
        with _noted(faults, f"/arms/{n}"):
            _check_distinct(checked, {"method": method, "effort": effort, "check": check, "label": label})
        checked.append({"method": method, "effort": effort, "check": check, "label": label})
    return checked


def _check_distinct(earlier: Sequence[Mapping[str, str]], arm: Mapping[str, str]) -> None:
    """Check that an arm differs from the earlier ones. Raises Refused: duplicate_arm, duplicate_label."""
    for n, other in enumerate(earlier):
        if all(arm[name] == other[name] for name in ("method", "effort", "check")):
            detail = f"Arm {n} has the same method, effort and check. Compare arms that differ."
            raise invalid(pointer="", code="duplicate_arm", detail=detail)
        if arm["label"] == other["label"]:
            raise invalid(pointer="/label", code="duplicate_label", detail=f"Arm {n} has the same label.")


# --- items ------------------------------------------------------------------------------------------------------------


def _items(
    questions: Sequence[Mapping[str, Any]], faults: list[Refused]
) -> tuple[list[ComparisonItem], list[list[Video]]]:
    wishes = [ScopeWish(frozenset(fields.get("video_ids", ())), fields.get("collection_id")) for fields in questions]
    resolved = resolve_many(wishes)
    items: list[ComparisonItem] = []
    scopes: list[list[Video]] = []
    for position, (fields, wish) in enumerate(zip(questions, wishes, strict=True)):
        pointer = f"/questions/{position}"
        videos: list[Video] = []
        with _noted(faults, pointer):
            videos = _indexed(resolved[wish], fields.get("start_ms"))
        item = _item(position, fields, videos, partial(_noted, faults, pointer))
        items.append(item)
        scopes.append(videos)
    return items, scopes


def _indexed(videos: list[Video] | Refused, start_ms: int | None) -> list[Video]:
    """Return the videos of a scope of which some can be read already: every arm reads what is there now."""
    if isinstance(videos, Refused):
        raise videos
    require_indexed(videos, start_ms=start_ms)
    return videos


def _item(
    position: int, fields: Mapping[str, Any], videos: Sequence[Video], noted: Callable[..., Any]
) -> ComparisonItem:
    text, choices = "", list[str]()
    correct_choice: int | None = None
    with noted():
        text = check_text(fields["text"])
    with noted():
        check_span(fields.get("start_ms"), fields.get("end_ms"))
    with noted():
        choices = check_choices(fields.get("choices", ()))
        correct_choice = _correct_choice(fields, choices)
    evidence = fields.get("evidence", ())
    for n, span in enumerate(evidence):
        with noted(f"/evidence/{n}"):
            _check_evidence(span, {video.id for video in videos})
    return ComparisonItem(
        tenant_id=current_tenant_id(),
        position=position,
        text=text,
        choices=choices,
        video_ids=[str(video.id) for video in videos],
        start_ms=fields.get("start_ms"),
        end_ms=fields.get("end_ms"),
        correct_choice=correct_choice,
        correct_answer="" if choices else fields.get("correct_answer", "").strip(),
        evidence=[{**span, "video_id": str(span["video_id"])} for span in evidence],
        kind=fields.get("kind", "").strip(),
        external_id=fields.get("external_id", ""),
    )


def _correct_choice(fields: Mapping[str, Any], choices: Sequence[str]) -> int | None:
    """Return the index of the right choice; None without a label, or for an open question.

    The right answer of a question with choices may also be given in words, which then are those of a choice.
    Raises Refused: two_labels, label_without_choices, unknown_choice.
    """
    index, words = fields.get("correct_choice"), fields.get("correct_answer", "").strip()
    if index is not None and words:
        detail = "Give correct_choice or correct_answer, and not both."
        raise invalid(pointer="", code="two_labels", detail=detail)
    if index is not None and not choices:
        detail = "The question has no choices. Give its right answer as correct_answer."
        raise invalid(pointer="/correct_choice", code="label_without_choices", detail=detail)
    if index is not None:
        if index >= len(choices):
            detail = "Give the index of one of the question's choices, counted from 0."
            raise invalid(pointer="/correct_choice", code="unknown_choice", detail=detail)
        return int(index)
    if not words or not choices:
        return None
    folded = [choice.casefold() for choice in choices]
    if words.casefold() not in folded:
        detail = "The right answer is none of the question's choices. Give it in the words of a choice."
        raise invalid(pointer="/correct_answer", code="unknown_choice", detail=detail)
    return folded.index(words.casefold())


def _check_evidence(span: Mapping[str, Any], scope: set[UUID]) -> None:
    """Check a labelled span. Raises Refused: outside_scope, invalid_span."""
    if span["video_id"] not in scope and scope:
        detail = "The video is not in the question's scope."
        raise invalid(pointer="/video_id", code="outside_scope", detail=detail)
    check_span(span["start_ms"], span["end_ms"])
