"""The language of a question: found, or given by the caller. Searches go in English, the language of the index."""

from __future__ import annotations

from dataclasses import replace

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.translation import rewritten_in
from gpu_workers.engine.languages.codes import is_english
from gpu_workers.engine.languages.detection import language_of
from gpu_workers.engine.models.model_table import speaks


def detect_language(asked: Asked) -> Asked:
    """Return asked with the languages of the question and of its answer.

    The answer's language is the one that the caller gives, else the question's; a question that is too short to show
    one has the language of the conversation before it.
    """
    question = asked.question
    earlier = (turn.question for turn in reversed(question.history))
    written = next(filter(None, map(language_of, (question.question, *earlier))), question.language)
    understood = replace(asked.understood, language=question.language or written)
    return replace(asked, understood=understood, question_language=written)


def translate(asked: Asked, calls: Calls) -> Asked:
    """Return asked with the English of its question, by one call, if it is in another language that the reasoner knows.

    Retrieval takes it where the embedder does not understand the question itself. After a failure the question is
    searched for as it is.
    """
    question, written = asked.question, asked.question_language
    if is_english(written) or not speaks(asked.models.reasoner.name, written):
        return asked
    texts = (asked.searched, *question.choices)
    with calls.timed("translate"):
        translated = rewritten_in("en", texts, prompt="translate", language=written, asked=asked, calls=calls)
    if translated is None:
        return asked
    asked = replace(asked, translated=translated)
    known = asked.models.embedder_languages
    if not known or written in known:
        return asked
    return replace(asked, searched=translated[0], understood=replace(asked.understood, searched=translated[0]))
