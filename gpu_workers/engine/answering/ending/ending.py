"""The end of an answer: its text as the question asks for it, with evidence for every statement and none against it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.contract import AnswerPart, CitationRecord, ClaimRecord
from gpu_workers.engine.answering.ending.citations import evidence_of
from gpu_workers.engine.answering.ending.claims import claims_of
from gpu_workers.engine.answering.ending.compose import compose
from gpu_workers.engine.answering.ending.composed import Composed, Part
from gpu_workers.engine.answering.ending.grounding import Grounded, Grounds, Statement, ground
from gpu_workers.engine.answering.ending.rendering import rendered
from gpu_workers.engine.answering.ending.revision import revised
from gpu_workers.engine.answering.parsing import ParsedAnswer
from gpu_workers.engine.answering.search.summary_answer import AnswerNode
from gpu_workers.engine.answering.understood import Shape
from gpu_workers.engine.answering.words import decisive_words

QUOTED_CHARACTERS = 160
"""Maximum characters of a statement in a note."""


@dataclass(frozen=True, slots=True)
class Ending:
    """The text of an answer and what it rests on.

    text: "" if every statement was contradicted. claims: the statements, with those that were left out of the text
    because the cited evidence contradicts them. supported, contradicted: shares of the statements as they were first
    written, 0 to 1. notes: what was changed.
    """

    text: str
    citations: tuple[CitationRecord, ...]
    claims: tuple[ClaimRecord, ...]
    supported: float
    contradicted: float
    shape: Shape = "sentence"
    columns: tuple[str, ...] = ()
    parts: tuple[AnswerPart, ...] = ()
    notes: tuple[str, ...] = ()


def end_of(asked: Asked, calls: Calls, node: AnswerNode, answer: ParsedAnswer) -> Ending:
    """Return the end of an answer that the votes of node decided on.

    The text is composed as the question asks (composing.compose). Every statement is grounded in events that were
    shown. Statements of an open answer that the evidence contradicts are corrected in one call, and removed where this
    fails (settings.prompt.revise). A choice is never rewritten.
    """
    composed = compose(asked, calls, context=node.context, findings=node.findings, answer=answer)
    if composed is None:
        statements = [Statement(claim) for claim in claims_of(answer)]
    else:
        statements = [Statement(part.text, part.cited) for part in composed.parts]
    with calls.timed("citations"):
        first = ground(asked, calls, node, statements, whole=answer.text)
    wrong = {index: one for index, one in enumerate(first.statements) if one.status == "contradicted"}
    grounds, notes = first, list(_composing_notes(composed))
    if wrong and answer.choice is None and asked.settings.prompt.revise:
        grounds, changes = without_contradictions(asked, calls, node, first, wrong)
        notes += changes
    citations, claims = evidence_of(asked, node, grounds)
    end = Ending(
        answer.text, citations, claims, _share(first, "supported"), _share(first, "contradicted"), notes=tuple(notes)
    )
    if composed is not None:
        return _composed_end(composed, grounds, end)
    if grounds is first:
        return end
    left = [one.text for one in grounds.statements if one.status != "contradicted"]
    return replace(end, text=" ".join(map(_sentence, left)))


def _composed_end(composed: Composed, grounds: Grounds, end: Ending) -> Ending:
    """Return the end with the composed text. Its opening is a claim of its own, which all parts stand for."""
    kept = [index for index, one in enumerate(grounds.statements) if one.status != "contradicted"]
    parts = tuple(_changed(composed.parts[index], grounds.statements[index]) for index in kept)
    if not parts:
        return replace(end, text="")
    composed = replace(composed, parts=parts)
    text = rendered(composed, [end.claims[index].citations for index in kept])
    claims, citations, notes, offset = end.claims, end.citations, end.notes, 0
    if composed.opening:
        said = [word for word in decisive_words(composed.opening) if word.isdigit()]
        counted = said == [str(len(parts))]
        holds = counted and all(claims[index].status == "supported" for index in kept)
        everything = tuple(sorted({position for index in kept for position in claims[index].citations}))
        opening = ClaimRecord(composed.opening, "supported" if holds else "unverified", everything)
        claims, offset = (opening, *claims), 1
        citations = tuple(_of_opening(one, first=position in everything) for position, one in enumerate(citations))
        if said and not counted:
            notes = (*notes, f'The answer says "{_short(composed.opening)}"; places shown: {len(parts)}.')
    written = tuple(AnswerPart(part.text, index + offset, part.cells) for index, part in zip(kept, parts, strict=True))
    return replace(
        end,
        text=text,
        citations=citations,
        claims=claims,
        notes=notes,
        shape=composed.shape,
        columns=composed.columns,
        parts=written,
    )


def _of_opening(citation: CitationRecord, *, first: bool) -> CitationRecord:
    """Return the citation with its claims counted from the opening, and with the opening if it is cited first."""
    claims = tuple(index + 1 for index in citation.claims)
    return replace(citation, claims=(0, *claims) if first else claims)


def without_contradictions(
    asked: Asked, calls: Calls, node: AnswerNode, first: Grounds, wrong: Mapping[int, Grounded]
) -> tuple[Grounds, list[str]]:
    """Return the statements after one revision, and what was done. A statement that is still contradicted is left out
    of the text."""
    corrected = revised(asked, calls, node, wrong)
    again = Grounds((), {})
    if corrected:
        with calls.timed("citations"):
            whole = " ".join(statement.text for statement in corrected.values())
            again = ground(asked, calls, node, list(corrected.values()), whole=whole, deep=False)
    new = {index: one for index, one in zip(corrected, again.statements, strict=True) if one.status != "contradicted"}
    notes = [
        f"A statement was {'corrected' if index in new else 'left out'} because the evidence contradicts it: "
        f'"{_short(statement.text)}"'
        for index, statement in wrong.items()
    ]
    after = tuple(new.get(index, statement) for index, statement in enumerate(first.statements))
    return Grounds(after, {**first.frames, **again.frames}), notes


def _changed(part: Part, now: Grounded) -> Part:
    """Return the part with the words and events of its statement. A corrected row of a table keeps them in its first
    cell, since nothing says to which columns they belong."""
    if part.text == now.text:
        return part
    cited: tuple[UUID, ...] = tuple(now.statuses)
    return Part(now.text, cited, (now.text, *[""] * (len(part.cells) - 1)) if part.cells else ())


def _composing_notes(composed: Composed | None) -> Sequence[str]:
    if composed is None:
        return ()
    notes = ["The text was cut off; parts may be missing."] if composed.cut else []
    if composed.uncited:
        parts = "1 part was" if composed.uncited == 1 else f"{composed.uncited} parts were"
        notes.append(f"{parts} left out because no event that was shown stands behind it.")
    return notes


def _share(grounds: Grounds, status: str) -> float:
    found = [statement.status == status for statement in grounds.statements]
    return sum(found) / len(found) if found else 0.0


def _sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if re.search(r"[.!?。！？]$", text) else f"{text}."


def _short(text: str) -> str:
    return text if len(text) <= QUOTED_CHARACTERS else f"{text[: QUOTED_CHARACTERS - 1]}…"
