"""The last step of an open answer to a question that is not in English: is it in the language that was asked for?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.asking.language import LINE_CHARACTERS, rewritten_in
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.composing.composed import Composed, Part, row_text
from gpu_workers.engine.answering.composing.rendering import rendered
from gpu_workers.engine.answering.contract import Answer, AnswerPart
from gpu_workers.engine.languages.detection import may_be_in

OTHER_LANGUAGE = "other_language"
"""Code of Answer.degraded of an answer that could not be given in the language that was asked for."""


def in_asked_language(asked: Asked, calls: Calls, answer: Answer) -> Answer:
    """Return the answer with its text, claims and parts in the question's language: as they are if they are in it, else
    rewritten in one call. If that fails, the answer stays and Answer.degraded has OTHER_LANGUAGE.

    A choice keeps the caller's own words.
    """
    language = asked.answer_language
    if not language or not answer.text or answer.choice is not None or may_be_in(language, answer.text):
        return answer
    texts = _texts_of(answer)
    written = None
    if calls.halted is None and max(map(len, texts)) <= LINE_CHARACTERS:
        with calls.timed("answer_language"):
            written = rewritten_in(
                language, texts, prompt="answer_language", language=language, asked=asked, calls=calls,
                meter=calls.meter,
            )  # fmt: skip
    answer = replace(answer, usage=calls.spending.usage(), timings=calls.timings_so_far())
    if written is None or not may_be_in(language, "\n".join(written)):
        return replace(answer, degraded=(*answer.degraded, OTHER_LANGUAGE))
    return _rewritten(answer, dict(zip(texts, written, strict=True)))


def _texts_of(answer: Answer) -> tuple[str, ...]:
    """Return the texts to rewrite, each once. What is put together from others is left out, and so are times."""
    lines = () if _is_composed(answer) else answer.text.splitlines()
    joined = {part.text for part in answer.parts if _is_row(answer, part)}
    claims = [claim.text for claim in answer.claims if claim.text not in joined]
    parts = [part.text for part in answer.parts if part.text not in joined]
    cells = [cell for part in answer.parts for cell in part.cells]
    texts = dict.fromkeys([*lines, *claims, *parts, *cells, *answer.columns])
    return tuple(text for text in texts if any(map(str.isalpha, text)))


def _rewritten(answer: Answer, words: Mapping[str, str]) -> Answer:
    """Return the answer with these words in the place of its own."""
    columns = tuple(words.get(column, column) for column in answer.columns)
    parts, of_row = [], dict(words)
    for part in answer.parts:
        cells = tuple(words.get(cell, cell) for cell in part.cells)
        text = row_text(columns, cells) if _is_row(answer, part) else words.get(part.text, part.text)
        of_row[part.text] = text
        parts.append(replace(part, text=text, cells=cells))
    claims = tuple(replace(claim, text=of_row.get(claim.text, claim.text)) for claim in answer.claims)
    changed = replace(answer, claims=claims, parts=tuple(parts), columns=columns)
    if _is_composed(answer):
        return replace(changed, text=_text_of_parts(changed))
    return replace(changed, text="\n".join(words.get(line, line) for line in answer.text.splitlines()))


def _is_row(answer: Answer, part: AnswerPart) -> bool:
    return bool(answer.columns and part.cells) and part.text == row_text(answer.columns, part.cells)


def _is_composed(answer: Answer) -> bool:
    """Whether the text is exactly its parts as a composer's are rendered, so that it can be rendered again."""
    if not answer.parts or (answer.shape == "table" and not answer.columns):
        return False
    return _text_of_parts(answer) == answer.text


def _text_of_parts(answer: Answer) -> str:
    opening = answer.claims[0].text if answer.shape == "count" and answer.claims else ""
    composed = Composed(
        answer.shape, tuple(Part(part.text, (), part.cells) for part in answer.parts), answer.columns, opening
    )
    return rendered(composed, [answer.claims[part.claim].citations for part in answer.parts])
