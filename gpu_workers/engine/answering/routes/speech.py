"""How often words are said: the transcript decides, utterance by utterance, and no model is asked."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_workers.engine.answering.agent.caption_tools import LINES_COUNTED, words_of
from gpu_workers.engine.answering.agent.caption_tools import SpokenTerm as Place
from gpu_workers.engine.answering.agent.caption_tools import find_spoken as places_spoken
from gpu_workers.engine.answering.agent.step_records import StepRecorder
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.contract import Answer
from gpu_workers.engine.answering.routes.choosing import chosen_by_number
from gpu_workers.engine.answering.routes.ending import MOST_CITED, Claim, RouteResult, moment_in_words, route_answer
from gpu_workers.engine.answering.routes.groups import Group, groups_of
from gpu_workers.engine.answering.routes.phrases import Phrases, Sureness, phrases_of
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.clock_text import clock
from gpu_workers.engine.ports import StoredEvent

PLACES_SHOWN = 40
"""Maximum number of times that the text names."""

_HEARD_ANYWAY = frozenset({"no_frames", "model_refused"})
"""Codes of gaps in pictures whose sound was heard."""


def answer_by_speech(toolbox: Toolbox, statement: str, words: str) -> Answer | None:
    """Return how often the words are said, one after the other, by the lines of the transcript in scope. A stretch that
    nobody could listen to makes it "at least". None if no choice is the number."""
    phrases, recorder = phrases_of(toolbox.asked), StepRecorder(toolbox, total=1)
    with toolbox.calls.timed("scan"), recorder.step("scan", predicate=statement) as step:
        lines = toolbox.asked.graph.lines_containing(words_of(words), limit=LINES_COUNTED)
        places = places_spoken(toolbox, words, lines)
        unheard_ms = _unheard_ms(toolbox)
        notes = [f'the transcript has "{words}" {len(places)} times']
        if unheard_ms:
            notes.append(f"{clock(unheard_ms, hours=True)} could not be read, and its speech was not heard")
        step.observation = "; ".join(notes)
    sure: Sureness = "at_least" if len(lines) == LINES_COUNTED or unheard_ms else "exactly"
    choice = None
    if toolbox.asked.question.choices:
        choice = chosen_by_number(toolbox.asked.question.choices, len(places)) if sure == "exactly" else None
        if choice is None:
            return None
    counted = phrases.counted(sure, len(places), "", (phrases.one, phrases.times))
    cited = [event.id for place in places[:MOST_CITED] for event in _heard_in(toolbox, place)]
    length_ms = sum(span.duration_ms for span in toolbox.extents.values())
    return route_answer(
        toolbox,
        RouteResult(
            toolbox.asked.question.choices[choice] if choice is not None else _text(toolbox, phrases, sure, places),
            head="scan",
            records=recorder.records,
            choice=choice,
            reasoning="; ".join(notes),
            notes=notes,
            shares={"read": round(max(0.0, 1.0 - unheard_ms / max(1, length_ms)), 4)},
        ),
        [Claim(f"{phrases.opening(counted.rstrip('.'))}: {statement}", tuple(dict.fromkeys(cited)), "supported")],
    )


def _unheard_ms(toolbox: Toolbox) -> int:
    """Return the length of the events that could neither be seen nor heard, in milliseconds."""
    gaps = toolbox.load(place.event_id for place in toolbox.asked.graph.undescribed())
    return sum(event.span.duration_ms for event in gaps if _is_unheard(event))


def _is_unheard(event: StoredEvent) -> bool:
    return any(chunk.gap not in _HEARD_ANYWAY for chunk in event.chunks) and not any(
        chunk.transcript for chunk in event.chunks
    )


def _text(toolbox: Toolbox, phrases: Phrases, sure: Sureness, places: Sequence[Place]) -> str:
    understood, units = toolbox.asked.understood, (phrases.one, phrases.times)
    if understood.shape == "count" and (groups := groups_of(toolbox)):
        return f"{'; '.join(_said_in_group(toolbox, phrases, sure, places, group) for group in groups)}."
    if not places:
        return phrases.unsaid.format(number=phrases.number(sure, 0), times=units[1])
    if understood.shape in ("list", "steps", "table"):
        lines = [f'- {_moment(toolbox, place)}: "{as_data(place.line.text)}"' for place in places[:PLACES_SHOWN]]
        more = [phrases.more.format(n=len(places) - PLACES_SHOWN)] if len(places) > PLACES_SHOWN else []
        head = phrases.opening(phrases.counted(sure, len(places), "", units).rstrip("."))
        return "\n".join([f"{head}:", *lines, *more])
    moments = list(dict.fromkeys(_moment(toolbox, place) for place in places))
    counted = phrases.counted(sure, len(places), phrases.moments(moments[:PLACES_SHOWN], len(moments)), units)
    if understood.shape == "count":
        return phrases.opening(counted)
    return (phrases.happens if understood.polarity == "never" else phrases.yes).format(counted=counted)


def _said_in_group(toolbox: Toolbox, phrases: Phrases, sure: Sureness, places: Sequence[Place], group: Group) -> str:
    if not group.spans:
        return f"{group.label}: {phrases.outside}"
    own = [place for place in places if group.hears(place.line.video_id, place.span)]
    moments = list(dict.fromkeys(_moment(toolbox, place) for place in own))
    named = phrases.moments(moments[:PLACES_SHOWN], len(moments)) if moments else ""
    counted = phrases.counted(sure, len(own), named, (phrases.one, phrases.times))
    return f"{group.label}: {counted.rstrip('.')}"


def _heard_in(toolbox: Toolbox, place: Place) -> Sequence[StoredEvent]:
    return toolbox.events_at(place.line.video_id, place.span, limit=1)


def _moment(toolbox: Toolbox, place: Place) -> str:
    return moment_in_words(toolbox, place.line.video_id, place.span.start_ms)
