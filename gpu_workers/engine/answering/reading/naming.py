"""The step that finds the time a question names, and narrows the graph to it."""

from __future__ import annotations

from dataclasses import replace

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.reading.anchors import order_spans
from gpu_workers.engine.answering.reading.expressions import NamedTime, Order
from gpu_workers.engine.answering.reading.resolve import Resolved, in_stretches, resolve
from gpu_workers.engine.answering.reading.times import named_time
from gpu_workers.engine.answering.understood import ChosenBy, Stretch, UnderstoodTime
from gpu_workers.engine.models.roles import ModelError
from gpu_workers.engine.retrieval.stretches import stretches_of

NOT_PLACED = "not used, because nothing says when the video was recorded"


def narrow_to_time(asked: Asked, calls: Calls, *, language: str = "", named: NamedTime | None = None) -> Asked:
    """Return asked with the time that its question names, and with its graph narrowed to it; without one, as it is.

    named: the time that the reasoner read in the customer's words; without it, the parser reads them. Only the
    customer's own words count: of a follow-up question that was rewritten, a time that the conversation's questions
    name, too. A time that lies outside every video narrows the graph to nothing. Where nothing says when the videos
    were recorded, a day or a part of the day is not used, and the meaning says so. May raise Halt.
    """
    recordings = asked.recordings or asked.graph.recordings()
    asked = replace(asked, recordings=recordings)
    chosen_by: ChosenBy = "figures" if named is None else "model"
    named = named or _parsed(asked, language)
    if named is None:
        return asked
    order = _order_of(named)
    if order is not None:
        order = order if chosen_by == "model" else _in_index_language(asked, order)
        return _ordered(asked, calls, named, order, chosen_by)
    resolved = resolve(named.expressions, recordings, asked.question.now, joined=named.joined)
    if not resolved.applied:
        whole = asked.graph.extents()
        resolved = Resolved(whole, f'"{named.words}": {NOT_PLACED}')
        time = UnderstoodTime(named.words, resolved.meaning, resolved.spans, chosen_by=chosen_by)
        return replace(asked, understood=replace(asked.understood, time=time))
    time = UnderstoodTime(
        named.words, resolved.meaning, resolved.spans, chosen_by=chosen_by, stretches=resolved.stretches
    )
    return _narrowed(asked, named, time)


def _parsed(asked: Asked, language: str) -> NamedTime | None:
    """Return the time that the parser reads in the question, or else in its translation."""
    named = named_time(asked.question.question, language=language)
    if named is None and asked.translated:
        named, language = named_time(asked.in_english, language="en"), "en"
    if named is None or not asked.standalone:
        return named
    own = [asked.own_words, *(turn.question for turn in asked.question.history)]
    said = [time for words in own if (time := named_time(words, language=language)) is not None]
    # An earlier answer, which a model wrote after reading the video, must not choose the time.
    return named if any(set(named.expressions) <= set(time.expressions) for time in said) else None


def _order_of(named: NamedTime) -> Order | None:
    return next((each for each in named.expressions if isinstance(each, Order)), None)


def _in_index_language(asked: Asked, order: Order) -> Order:
    """Return the order with the anchor of the question's translation, if there is one: events are in English."""
    named = named_time(asked.in_english, language="en") if asked.translated else None
    english = _order_of(named) if named is not None else None
    if english is None:
        return order
    return replace(order, anchor=english.anchor, last_anchor=english.last_anchor or order.last_anchor)


def _ordered(asked: Asked, calls: Calls, named: NamedTime, order: Order, chosen_by: ChosenBy) -> Asked:
    try:
        spans, meaning = order_spans(asked, calls, order)
    except ModelError:
        spans, meaning = {}, ""
    resolved = in_stretches([Stretch(meaning, spans)])
    time = UnderstoodTime(
        named.words,
        meaning or f'{order.order} "{order.anchor}": no such event was found, so all of the video was searched',
        resolved.spans,
        order=order.order,
        anchor=order.anchor,
        chosen_by=chosen_by,
        stretches=resolved.stretches,
    )
    if meaning:
        return _narrowed(asked, named, time)
    return replace(asked, understood=replace(asked.understood, time=time))


def _narrowed(asked: Asked, named: NamedTime, time: UnderstoodTime) -> Asked:
    searched = named_time(asked.searched)
    remaining = "" if searched is None else searched.remaining
    if asked.searched == asked.question.question:
        remaining = named.remaining
    remaining = remaining if len(remaining.split()) > 1 else asked.searched
    return replace(
        asked,
        graph=stretches_of(asked.graph, time.read_spans()),
        searched=remaining,
        understood=replace(asked.understood, time=time, searched=remaining),
    )
