"""The last step of an open answer to a question that is not in English: is it in the language that was asked for?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.contract import Answer, AnswerPart
from gpu_workers.engine.answering.ending.compose import Composed, ComposedPart, rendered, row_text
from gpu_workers.engine.answering.reading.restating import LINE_CHARACTERS, rewritten_in
from gpu_workers.engine.languages.detection import may_be_in

OTHER_LANGUAGE = "other_language"
"""Code of Answer.degraded of an answer that could not be given in the language that was asked for."""

BATCH_TEXTS, BATCH_CHARACTERS = 40, 4_000
"""Maximum number of texts, and maximum length of all of them, that one call rewrites."""

MOST_ALONE = 12
"""Maximum number of texts of a batch that are rewritten one by one."""

_SENTENCES = re.compile(r"(?<=[.!?;。！？])\s+")


def in_asked_language(asked: Asked, calls: Calls, answer: Answer) -> Answer:
    """Return the answer with its text, claims and parts in the question's language: as they are if they are in it, else
    rewritten, a call for each batch of texts. If a batch comes back in another language, each text is asked for by
    itself. If that fails, the answer stays and Answer.degraded has OTHER_LANGUAGE.

    A choice keeps the caller's own words.
    """
    language = asked.answer_language
    if not language or not answer.text or answer.choice is not None or may_be_in(language, answer.text):
        return answer
    texts = _texts_of(answer)
    written = None
    if calls.halted is None:
        with calls.timed("answer_language"):
            written = _written_in(language, list(dict.fromkeys(piece for text in texts for piece in _pieces(text))),
                                  asked=asked, calls=calls)  # fmt: skip
    answer = replace(answer, usage=calls.spending.usage(), timings=calls.timings_so_far())
    if written is None or not may_be_in(language, "\n".join(written.values())):
        return replace(answer, degraded=(*answer.degraded, OTHER_LANGUAGE))
    return _rewritten(answer, {text: " ".join(written[piece] for piece in _pieces(text)) for text in texts})


def _written_in(language: str, pieces: Sequence[str], *, asked: Asked, calls: Calls) -> dict[str, str] | None:
    """Return each piece in the language; None if a call fails."""
    written: dict[str, str] = {}
    for batch in _batches(pieces):
        rewritten = rewritten_in(language, batch, prompt="answer_language", language=language, asked=asked, calls=calls)
        rewritten = rewritten or _one_by_one(language, batch, asked=asked, calls=calls)
        if rewritten is None:
            return None
        written |= zip(batch, rewritten, strict=True)
    return written


def _one_by_one(language: str, batch: Sequence[str], *, asked: Asked, calls: Calls) -> tuple[str, ...] | None:
    """Return each piece in the language, a call each: a small reasoner leaves several texts as they are more often than
    one. None if there are more than MOST_ALONE, or if one stays as it is."""
    if len(batch) > MOST_ALONE:
        return None
    written: list[str] = []
    for piece in batch:
        alone = None
        if calls.halted is None:
            alone = rewritten_in(
                language, [piece], prompt="answer_language", language=language, asked=asked, calls=calls, again=1
            )
        if alone is None:
            return None
        written += alone
    return tuple(written)


def _batches(pieces: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    for piece in pieces:
        if batch and (len(batch) == BATCH_TEXTS or sum(map(len, batch)) + len(piece) > BATCH_CHARACTERS):
            yield batch
            batch = []
        batch.append(piece)
    if batch:
        yield batch


def _pieces(text: str) -> list[str]:
    """Return a text in pieces that one call takes as a line: as it is, or sentence by sentence if it is longer."""
    if len(text) <= LINE_CHARACTERS:
        return [text]
    pieces: list[str] = []
    for sentence in _SENTENCES.split(text):
        while len(sentence) > LINE_CHARACTERS:
            at = sentence.rfind(" ", 1, LINE_CHARACTERS)
            at = at if at > 0 else LINE_CHARACTERS
            pieces.append(sentence[:at].strip())
            sentence = sentence[at:].strip()
        if pieces and len(pieces[-1]) + 1 + len(sentence) <= LINE_CHARACTERS:
            pieces[-1] = f"{pieces[-1]} {sentence}"
        elif sentence:
            pieces.append(sentence)
    return pieces


# --- which texts ---------------------------------------------------------------------------------------------------


def _texts_of(answer: Answer) -> tuple[str, ...]:
    """Return the texts to rewrite, each once. What is put together from others is left out, and so are times."""
    joined = {part.text for part in answer.parts if _is_row(answer, part)}
    claims = [claim.text for claim in answer.claims if claim.text not in joined]
    parts = [part.text for part in answer.parts if part.text not in joined]
    cells = [cell for part in answer.parts for cell in part.cells]
    written_parts = set(_in_text(answer))
    around = () if _is_composed(answer) else [text for text in _segments(answer) if text not in written_parts]
    texts = dict.fromkeys([*around, *claims, *parts, *cells, *answer.columns])
    return tuple(text for text in texts if any(map(str.isalpha, text)))


def _in_text(answer: Answer) -> dict[str, str]:
    """Return the parts' texts by the form in which a text in parts has them: without the last stop."""
    return {part.text.rstrip("."): part.text for part in answer.parts if part.text.rstrip(".")}


def _segments(answer: Answer) -> list[str]:
    """Return the text in segments that are rewritten by themselves, or not at all: lines, and of a text in parts the
    parts and what stands between them. Joined they are the text."""
    written_parts = sorted(_in_text(answer), key=len, reverse=True)
    known = "|".join(map(re.escape, written_parts))
    ends = [rf"(?:^|(?<=[;:.!?|-] ))(?:{known})(?=[;.!?…]|$| [(|])"] if written_parts else []
    marks = re.compile("|".join([*ends, r"\n+", r"\|"]), re.MULTILINE)
    segments: list[str] = []
    at = 0
    for found in marks.finditer(answer.text):
        segments += [*_trimmed(answer.text[at : found.start()]), found[0]]
        at = found.end()
    return [*segments, *_trimmed(answer.text[at:])]


def _trimmed(text: str) -> tuple[str, str, str]:
    """Return the space before a text, the text and the space after it."""
    inner = text.strip()
    start = text.index(inner) if inner else len(text)
    return text[:start], inner, text[start + len(inner) :]


# --- the answer in other words -------------------------------------------------------------------------------------


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
    stopped = {short: of_row[whole].rstrip(".。") for short, whole in _in_text(answer).items()}
    known = {**words, **stopped}
    return replace(changed, text="".join(known.get(text, text) for text in _segments(answer)))


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
        answer.shape, tuple(ComposedPart(part.text, (), part.cells) for part in answer.parts), answer.columns, opening
    )
    return rendered(composed, [answer.claims[part.claim].citations for part in answer.parts])
