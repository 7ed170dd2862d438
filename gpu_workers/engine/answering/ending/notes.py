"""What an answer had to do without, and why its search ended, in words for the customer."""

from __future__ import annotations

from collections.abc import Mapping

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.contract import Answer
from gpu_workers.engine.answering.scan_price import most_events, scan_price
from gpu_workers.engine.answering.understood import UnderstoodTime
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.languages.codes import is_english
from gpu_workers.engine.ports import ViewQuery
from gpu_workers.engine.retrieval.tri_view import NO_VECTOR

WITHOUT_EYES = (
    "The observer cannot see actions; a vision-language model can. "
    "No model looked at pictures: the answer rests on measurements, speech and text that were indexed."
)
"""Note of an answer whose models cannot look at a frame again."""

FRAMES_NOT_LOOKED_AT = "Frames were not looked at again: the answer rests on the descriptions that were indexed."

QUERY_LANGUAGE = "query_language"
"""Code of Answer.degraded, and of a search: the embedder is not known to understand the language of the question."""

NOT_TRANSLATED = (
    "The question could not be translated into English, the language of the index. It was searched for as it is."
)

COUNTED = 5_000
"""Maximum number of events that are counted for a note."""

MOST_NAMED = 5
"""Maximum number of titles in the note on the videos that were read."""

_ENDED: Mapping[str, str] = {
    "max_calls": "The search ended early: the question's limit of model calls was reached.",
    "max_tokens": "The search ended early: the question's limit of tokens was reached.",
    "max_seconds": "The search ended early: the question's limit of time was reached.",
    "max_cost": "The search ended early: the question's limit of cost was reached.",
    "canceled": "The search ended early: the question was canceled.",
    "no_events": "Nothing was found in the index that fits the question.",
    "nothing_shown": "The method found nothing that it could answer from.",
    "no_consensus": "The drawn answers disagree too much for one of them to be given.",
    "abstained": "The events that were read do not say what the question asks for.",
    "unreadable": "The model's replies could not be read.",
    "contradicted": "The evidence contradicts every statement of the drawn answer, so it is not given.",
    "unsupported": "Do not rely on this answer: nothing that was read supports it, or it only repeats the question.",
    "model_refused": "The model declined to answer.",
}
"""Why a search ended without an answer or before its end, by the code in Answer.detail."""

_TENANTS = "The search ended early: your organisation's limit was reached."
_FAILED = "A model failed, so there is no answer."


def notes_of(asked: Asked, answer: Answer) -> tuple[str, ...]:
    """Return the notes of an answer: what was read, its own, why the search ended, and what was not looked at."""
    notes = [*_named_videos(asked), *_named_time(asked.understood.time), *answer.notes]
    if ended := _ended(answer):
        notes.append(ended)
    if not asked.models.eyes:
        notes.append(WITHOUT_EYES)
    elif answer.nodes and not any(node.frames_used for node in answer.nodes):
        notes.append(FRAMES_NOT_LOOKED_AT)
    if read := _read(asked, answer):
        notes.append(read)
    if is_unread(asked):
        notes.append(NOT_TRANSLATED)
    if inexact := _inexact(asked, answer):
        notes.append(inexact)
    if asked.understood.doubted:
        notes.append(_not_scanned(asked))
    return tuple(dict.fromkeys(notes))


def _named_videos(asked: Asked) -> tuple[str, ...]:
    """Return the note on the videos that were read; none if the question names none."""
    named = asked.understood.videos
    if not named:
        return ()
    titles = [f'"{as_data(asked.recordings[one].title)}"' for one in named if one in asked.recordings]
    more = f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
    return (f"only what the question names was read: {', '.join(titles[:MOST_NAMED])}{more}",)


def _named_time(time: UnderstoodTime | None) -> tuple[str, ...]:
    """Return the note on the time that was understood; none if the question names none."""
    return (f'the time "{as_data(time.words)}" was understood as: {time.meaning}',) if time is not None else ()


def is_unread(asked: Asked) -> bool:
    """Whether the question was searched in a language that the embedder is not known to understand."""
    language, known = asked.question_language, asked.models.embedder_languages
    return not is_english(language) and not asked.translated and bool(known) and language not in known


def _inexact(asked: Asked, answer: Answer) -> str:
    """Return that no event contains the words in quotation marks, by whose meaning was searched instead; "" if one
    contains them all, or if the question was not searched for."""
    quoted = asked.understood.quoted
    if not quoted or asked.understood.route != "search" or not answer.text:
        return ""
    query = ViewQuery(NO_VECTOR, 1, text=asked.searched, exact=quoted)
    if asked.graph.search_views({"words": query})["words"]:
        return ""
    named = " and ".join(f'"{words}"' for words in quoted)
    return f"No event has exactly {named}; it was searched by meaning."


def _not_scanned(asked: Asked) -> str:
    """Return what a scan would take that the question may have asked for, and how to ask for it."""
    models, route = asked.models, asked.understood.doubted
    effort, small = asked.settings.effort, models.calibration.small
    events = len(asked.graph.timeline(limit=most_events(effort, small=small)))
    price = scan_price(events, effort, small=small, at_once=asked.settings.in_flight)
    wanted = "a number of things in the whole scope" if route == "objects" else "a check of every event"
    return (
        f"The question was searched for. If it asks for {wanted}, ask it again with route {route}: that takes up to "
        f"{price.calls} calls and about {price.prompt_tokens + price.completion_tokens:,} tokens."
    )


def _ended(answer: Answer) -> str:
    if answer.finish_reason == "answered":
        return ""
    if answer.detail.startswith("tenant_"):
        return _TENANTS
    return _ENDED.get(answer.detail, _FAILED if answer.finish_reason in ("error", "refused") else "")


def _read(asked: Asked, answer: Answer) -> str:
    """Return how many of the events in scope stood in a prompt; "" if all or none did."""
    if asked.settings.effort == "paper":
        # It reads what the publication reads, and nothing else of the index.
        return ""
    graph = asked.graph
    read = {event.event_id for node in answer.nodes for event in node.events if event.number is not None}
    if not read:
        return ""
    places = graph.timeline(limit=COUNTED + 1)
    if len(places) <= len(read):
        return ""
    several = f"more than {COUNTED:,}" if len(places) > COUNTED else f"{len(places):,}"
    return f"{len(read):,} of {several} events were read."
