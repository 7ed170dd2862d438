"""Questions that name a word, a number or a code, which one event alone has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from bench.evaluation.tape10.question import Drawing, TapeQuestion
from bench.evaluation.tape10.time_questions import Draw, question, several
from bench.evaluation.tape10.world import Line, Moment, Writing

WORD_FORMS = {"plate": 12, "code": 14, "heard": 12, "number": 12, "quoted": 10}
"""Number of questions of each form."""

PLATE = "plate"
"""Kind of the writing that form plate asks for; form code asks for all others."""


def written(moments: Sequence[Moment], code: str) -> list[Moment]:
    """Return the moments in which the code was really written, however it was read."""
    return [moment for moment in moments if any(writing.code == code for writing in moment.writing)]


def said(moments: Sequence[Moment], words: str) -> list[Moment]:
    """Return the moments in which the words are said as they stand."""
    folded = words.casefold()
    return [moment for moment in moments if any(folded in line.text.casefold() for line in moment.lines)]


def _of_writing(form: Literal["plate", "code"]) -> Draw:
    def draw(drawing: Drawing) -> TapeQuestion | None:
        moment, writing = drawing.rng.choice(_written(drawing.world.moments))
        if writing.decoy or (writing.kind == PLATE) != (form == "plate"):
            return None
        if len(written(drawing.world.moments, writing.code)) != 1:
            return None
        text = drawing.sentence(f"words.{form}", {"code": writing.code})
        return question(drawing, "words", form, text, "event", moment=moment.n)

    return draw


def _of_speech(form: Literal["heard", "number"]) -> Draw:
    def draw(drawing: Drawing) -> TapeQuestion | None:
        moment, line = drawing.rng.choice(_spoken(drawing.world.moments))
        # Names and common words are letters only; numbers and codes have a digit.
        if not line.rare or any(map(str.isdigit, line.rare)) != (form == "number"):
            return None
        if len(said(drawing.world.moments, line.rare)) != 1 or _shown(drawing.world.moments, line.rare):
            return None
        text = drawing.sentence(f"words.{form}", {"word": line.rare})
        return question(drawing, "words", form, text, "event", moment=moment.n)

    return draw


def quoted(drawing: Drawing) -> TapeQuestion | None:
    moment, line = drawing.rng.choice(_spoken(drawing.world.moments))
    words = line.text.rstrip(".!?").split()
    length = drawing.rng.randint(3, 6)
    start = drawing.rng.randrange(max(1, len(words) - length + 1))
    part = " ".join(words[start : start + length]).strip(",")
    if len(part.split()) < 3 or len(said(drawing.world.moments, part)) != 1:
        return None
    text = drawing.sentence("words.quoted", {"words": part})
    return question(drawing, "words", "quoted", text, "event", moment=moment.n)


def word_questions(drawing: Drawing) -> Iterator[TapeQuestion]:
    draws: dict[str, Draw] = {
        "plate": _of_writing("plate"), "code": _of_writing("code"), "heard": _of_speech("heard"),
        "number": _of_speech("number"), "quoted": quoted,
    }  # fmt: skip
    for form, count in WORD_FORMS.items():
        yield from several(drawing, draws[form], count)


def _shown(moments: Sequence[Moment], words: str) -> bool:
    """Whether the words are read in a picture or seen to happen."""
    folded = words.casefold()
    texts = [moment.text for moment in moments] + [writing.shown for _, writing in _written(moments)]
    return any(folded in text.casefold() for text in texts)


def _written(moments: Sequence[Moment]) -> list[tuple[Moment, Writing]]:
    return [(moment, writing) for moment in moments for writing in moment.writing]


def _spoken(moments: Sequence[Moment]) -> list[tuple[Moment, Line]]:
    return [(moment, line) for moment in moments for line in moment.lines]
