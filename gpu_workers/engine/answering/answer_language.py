"""The last step of an open answer to a question that is not in English: is it in the language that was asked for?"""

from __future__ import annotations

from dataclasses import replace

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.asking.language import LINE_CHARACTERS, rewritten_in
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.contract import Answer
from gpu_workers.engine.languages.detection import may_be_in

OTHER_LANGUAGE = "other_language"
"""Code of Answer.degraded of an answer that could not be given in the language that was asked for."""


def in_asked_language(asked: Asked, calls: Calls, answer: Answer) -> Answer:
    """Return the answer with its text and claims in the question's language: as they are if they are in it, else
    rewritten in one call. If that fails, the answer stays and Answer.degraded has OTHER_LANGUAGE.

    A choice keeps the caller's own words.
    """
    language = asked.answer_language
    if not language or not answer.text or answer.choice is not None or may_be_in(language, answer.text):
        return answer
    lines = answer.text.splitlines()
    texts = tuple(dict.fromkeys(filter(str.strip, [*lines, *(claim.text for claim in answer.claims)])))
    written = None
    if calls.halted is None and max(map(len, texts)) <= LINE_CHARACTERS:
        with calls.timed("answer_language"):
            written = rewritten_in(
                language, texts, prompt="answer_language", language=language, asked=asked, calls=calls,
                meter=calls.meter,
            )  # fmt: skip
    answer = replace(answer, usage=calls.spending.usage(), timings=calls.timings_so_far())
    if written is None:
        return replace(answer, degraded=(*answer.degraded, OTHER_LANGUAGE))
    written_of = dict(zip(texts, written, strict=True))
    claims = tuple(replace(claim, text=written_of.get(claim.text, claim.text)) for claim in answer.claims)
    return replace(answer, text="\n".join(written_of.get(line, line) for line in lines), claims=claims)
