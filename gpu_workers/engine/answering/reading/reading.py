"""A question is read here, once. What comes after uses asked.understood and never looks at the words again.

A capable reasoner reads it in one call (reading.call). Otherwise labelled examples say what it asks for
(reading.nearest), a parser finds times in figures (reading.times), and a title names its video if it stands in the
question (reading.titles). Only the customer's own words take part, never text of a video.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.contract import ROUTED_METHOD
from gpu_workers.engine.answering.reading.call import REPLY_TOKENS, Reply, ask_to_read
from gpu_workers.engine.answering.reading.forms import NamedTime
from gpu_workers.engine.answering.reading.nearest import Labels, reader_of, subject_words, topic_stems
from gpu_workers.engine.answering.reading.placing import narrow_to_time
from gpu_workers.engine.answering.reading.restating import detect_language, stand_alone, translate
from gpu_workers.engine.answering.reading.times import times_in
from gpu_workers.engine.answering.reading.titles import named_videos, narrow_to_videos, without_titles
from gpu_workers.engine.answering.understood import COSTLY, ChosenBy, Route
from gpu_workers.engine.languages.codes import ENGLISH, is_english
from gpu_workers.engine.languages.words import stemmed
from gpu_workers.engine.models.roles import ModelError
from gpu_workers.engine.retrieval.word_terms import MAX_EXACT
from gpu_workers.engine.retrieval.words import quoted

STATEMENT_CHARACTERS = 200
"""Maximum length of a statement, and of the words for what is counted."""

LEAST_CALLS = 4
"""Minimum number of calls that a budget must hold so that one of them reads the question."""

READING_TOKENS = 2_000
"""Tokens of the prompt that reads a question, an upper estimate with titles and earlier questions."""

OF_CHOICES: frozenset[Route] = frozenset({"search", "objects", "time"})
"""Routes of a question with choices."""


def read_question(asked: Asked, calls: Calls) -> Asked:
    """Return asked with what its question asks for, and with its graph narrowed to the videos and the time that it
    names. Method `ava` takes its route from the caller, else from the reading. May raise Halt."""
    asked = replace(asked, recordings=asked.graph.recordings())
    asked = detect_language(asked)
    asked = replace(asked, understood=replace(asked.understood, quoted=quoted(asked.own_words)[1][:MAX_EXACT]))
    if is_read_by_call(asked) and _leaves_room(asked, calls):
        reply = ask_to_read(asked, calls)
        if reply is not None:
            return _as_replied(asked, calls, reply)
    return _as_nearest(translate(stand_alone(asked, calls), calls), calls)


def is_read_by_call(asked: Asked) -> bool:
    """Whether one call of the reasoner reads the question: at efforts medium and high, if the reasoner was not found to
    be small. Methods without routes make the calls that they publish, and restate and translate where they must."""
    capable = not asked.models.calibration.small and asked.settings.effort in ("medium", "high")
    return capable and asked.question.method == ROUTED_METHOD


def keeps_to_paper(asked: Asked) -> bool:
    """Whether the question is answered by the AVA paper, which only searches, and searches all of the video whatever
    time the question names. A route that the caller chose stands."""
    question = asked.question
    return question.method == ROUTED_METHOD and asked.settings.effort == "paper" and question.route == "auto"


def _leaves_room(asked: Asked, calls: Calls) -> bool:
    """Whether the budget holds the answer's own calls after the reading. A reading that leaves no answer is in vain."""
    if not calls.spending.rations():
        return True
    return calls.spending.holds(LEAST_CALLS, READING_TOKENS, REPLY_TOKENS, asked.models.reasoner.name)


# --- by the reasoner's call ----------------------------------------------------------------------------------------


def _as_replied(asked: Asked, calls: Calls, reply: Reply) -> Asked:
    question = asked.question
    understood = replace(
        asked.understood, language=question.language or reply.language or asked.understood.language, words=reply.words
    )
    if question.history:
        asked = replace(asked, question=replace(question, question=reply.question), standalone=reply.question)
    english = is_english(reply.language or asked.question_language)
    asked = replace(
        asked,
        searched=reply.search,
        translated=() if english else (reply.search, *(reply.choices or question.choices)),
        question_language=reply.language or asked.question_language,
        understood=understood,
    )
    if reply.videos:
        asked = narrow_to_videos(asked, reply.videos)
    asked = narrow_to_time(asked, calls, reply.time, chosen_by="model", searched=asked.searched)
    asked = replace(asked, understood=replace(asked.understood, searched=asked.searched))
    labels = Labels(sure=reply.sure or reply.chosen["route"] not in COSTLY, **reply.chosen)
    return _routed(
        asked, labels, "model", statement=reply.statement, counted=reply.counted, exact=reply.exact,
        topic=tuple(stemmed([word for words in reply.topic for word in words.casefold().split()], ENGLISH)),
    )  # fmt: skip


# --- by labelled examples and figures ------------------------------------------------------------------------------


def _as_nearest(asked: Asked, calls: Calls) -> Asked:
    language = asked.question_language or ENGLISH
    labels, read_by = _labels(asked, language)
    words = [asked.question.question]
    if asked.standalone:
        # Words of an earlier answer, which a model wrote, must not choose the video.
        words = [asked.own_words, *(turn.question for turn in asked.question.history)]
    videos = named_videos(words, asked.recordings)
    if len(videos) == 1 and labels.comparison != "none":
        # "Is the gate camera busier than the others?" is about all of them.
        videos = ()
    # What is judged or counted is what the question refers to, in the language of the index if that is known.
    index_language = ENGLISH if asked.translated else language
    text = without_titles(asked.in_english, asked.recordings, videos)
    searched_in = ENGLISH if asked.searched == asked.in_english else language
    asked = narrow_to_videos(asked, videos)
    _, searched = times_in(asked.searched, searched_in)
    if not keeps_to_paper(asked):
        asked = narrow_to_time(asked, calls, _time_of(asked, language), chosen_by="figures", searched=searched)
    _, text = times_in(text, index_language)
    # Words of asking stand within "the person never waves", and after what is compared.
    within = labels.polarity != "occurs" or labels.comparison != "none"
    statement, phrases = " ".join(subject_words(text, labels.route, within=within)), asked.understood.quoted
    return _routed(
        asked, labels, read_by, statement=statement, counted=statement if labels.route == "objects" else "",
        exact=phrases[0] if phrases else statement, topic=topic_stems(text, index_language),
    )  # fmt: skip


def _time_of(asked: Asked, language: str) -> NamedTime:
    """Return the time that the question names, with the event of an order in the language of the index.

    A question that was made to stand alone was written by a model that read an earlier answer: its time counts only if
    the customer named it, now or earlier in the conversation.
    """
    named, _ = times_in(asked.question.question, language)
    english, _ = times_in(asked.in_english, ENGLISH) if asked.translated else (named, "")
    if asked.standalone:
        own = [asked.own_words, *(turn.question for turn in asked.question.history)]
        said = [times_in(words, language)[0] for words in own]
        if not named.forms or not any(set(named.forms) <= set(time.forms) for time in said):
            return NamedTime()
    if not named.forms:
        return english
    return NamedTime(named.words, english.forms) if named.order and english.order else named


def _labels(asked: Asked, language: str) -> tuple[Labels, ChosenBy]:
    """Return what the examples say; a search for a question in a language that the embedder does not understand.

    A follow-up was restated, and translated, by a model that read earlier answers: only the customer's own words may
    choose how it is answered. Methods without routes use only whether the question compares videos.
    """
    text, known = asked.own_words, asked.models.embedder_languages or (ENGLISH,)
    if asked.translated and not asked.standalone and language not in known:
        text, language = asked.in_english, ENGLISH
    routed = asked.question.method == ROUTED_METHOD and asked.settings.effort != "paper"
    if language not in known or (not routed and len(asked.recordings) < 2):
        return Labels(), "default"
    try:
        named, bare = times_in(text, language)
        return reader_of(asked.models.text_embedder, known).read(bare, timed=bool(named.forms)), "examples"
    except ModelError:
        return Labels(), "default"


# --- the route -----------------------------------------------------------------------------------------------------


def _routed(
    asked: Asked,
    labels: Labels,
    chosen_by: ChosenBy,
    *,
    statement: str = "",
    counted: str = "",
    exact: str = "",
    topic: tuple[str, ...] = (),
) -> Asked:
    """Return asked with its route. The caller's stands."""
    question, understood = asked.question, asked.understood
    if question.method != ROUTED_METHOD or keeps_to_paper(asked):
        return replace(asked, understood=replace(understood, comparison=labels.comparison))
    wanted: Route = labels.route
    doubted: Route | Literal[""] = ""
    if question.route != "auto":
        wanted, chosen_by = question.route, "caller"
    elif not labels.sure:
        wanted, doubted = "search", labels.route
    if question.choices and question.route == "auto" and wanted not in OF_CHOICES:
        wanted = "search"
    if wanted == "time" and (understood.time is None or not understood.time.spans):
        wanted = "search"
    judged = wanted in COSTLY or doubted
    understood = replace(
        understood,
        route=wanted,
        chosen_by=chosen_by,
        sure=not doubted,
        doubted=doubted,
        shape=labels.shape,
        statement=(statement or asked.in_english)[:STATEMENT_CHARACTERS] if judged else "",
        polarity=labels.polarity,
        said=labels.said,
        exact=exact[:STATEMENT_CHARACTERS] if labels.said != "none" else "",
        counted=(counted or (statement if wanted == "objects" else ""))[:STATEMENT_CHARACTERS] if judged else "",
        counting=labels.counting,
        comparison=labels.comparison,
        topic=topic if wanted == "whole" else (),
        subject=labels.subject,
    )
    return replace(asked, understood=understood)
