"""Where the event lies that an order refers to: "after the second delivery"."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.context import event_text
from gpu_workers.engine.answering.reading.forms import MINUTE_MS, Order
from gpu_workers.engine.clock_text import clock
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.languages.words import content_words
from gpu_workers.engine.models.roles import embed_queries
from gpu_workers.engine.ports import StoredEvent, ViewName, ViewQuery
from gpu_workers.engine.retrieval.tri_view import NO_VECTOR

CANDIDATES = 64
"""Number of events that are looked at: nearest to the anchor's words, and as many that have these words."""


def order_spans(asked: Asked, calls: Calls, order: Order) -> tuple[dict[UUID, tuple[Span, ...]], str]:
    """Return by video what comes after, before, during or between the occurrences that an order names, and its meaning.

    Occurrences are runs of events that have most of the anchor's words, or else are clearly nearer to them than others.
    A video with fewer of them is left out. An event may hold both what its anchor names and what follows, so where a
    video ends with the occurrence, or begins with it, the occurrence itself is meant. Without any both are empty; the
    spans alone are empty if no video holds the distance that the order names. Raises ModelError of the embedder.
    """
    between = order.order == "between"
    events = _alike(asked, calls, order.anchor, least=max(1, order.nth))
    last = _alike(asked, calls, order.last_anchor, least=max(1, order.last_nth)) if between else []
    spans: dict[UUID, tuple[Span, ...]] = {}
    places: list[str] = []
    at_edge = False
    for video_id, recording in asked.graph.recordings().items():
        found = _nth_of(_occurrences([event for event in events if event.video_id == video_id]), order.nth)
        ends = _nth_of(_occurrences([event for event in last if event.video_id == video_id]), order.last_nth)
        if not found or (between and not ends):
            continue
        at = found[0]
        places += [
            f"{clock(each.start_ms, hours=True)} to {clock(each.end_ms, hours=True)}" for each in (*found, *ends)
        ]
        if order.order == "during":
            spans[video_id] = tuple(found)
            continue
        start_ms, end_ms = (at.end_ms, ends[0].start_ms) if between else _stretch(order, at, recording.until_ms)
        if start_ms >= end_ms and not order.at_ms and not between:
            start_ms, end_ms, at_edge = at.start_ms, at.end_ms, True
        if start_ms < end_ms:
            spans[video_id] = (Span(start_ms, end_ms),)
    if not places:
        return {}, ""
    return spans, _in_words(order, places, at_edge=at_edge, nothing=not spans)


def _in_words(order: Order, places: Sequence[str], *, at_edge: bool, nothing: bool) -> str:
    found = f"which was found at {', '.join(places[:3])}"
    found += f" and {len(places) - 3} more times" if len(places) > 3 else ""
    if order.order == "during":
        which = f"{_nth(order.nth)} {order.anchor}" if order.nth else f'every "{order.anchor}"'
        return f"during {which}, {found}"
    if order.order == "between":
        ends = f"{_nth(order.nth)} {order.anchor} and {_nth(order.last_nth)} {order.last_anchor}"
        return f"between {ends}, {found}{', with nothing between them' if nothing else ''}"
    away = f"{clock(order.at_ms, hours=True)} " if order.at_ms else ""
    away = f"the {clock(order.within_ms, hours=True)} " if order.within_ms else away
    if at_edge:
        found += f", with nothing {order.order} it, so that part itself was searched"
    return f"{away}{order.order} {_nth(order.nth)} {order.anchor}, {found}"


def _nth_of(occurrences: Sequence[Span], nth: int) -> list[Span]:
    """Return the nth occurrence, -1 the last, or all of them for 0; none if there are fewer."""
    if not nth or not occurrences:
        return list(occurrences)
    return [] if len(occurrences) < nth else [occurrences[-1 if nth < 0 else nth - 1]]


def _stretch(order: Order, at: Span, until_ms: int) -> tuple[int, int]:
    """Return start and end in ms of what an order means, at being its event; nothing lies there if start >= end."""
    after = order.order == "after"
    edge_ms = at.end_ms if after else at.start_ms
    near_ms = max(0, order.at_ms - _about(order.at_ms))
    far_ms = order.at_ms + _about(order.at_ms) if order.at_ms else order.within_ms or until_ms
    if after:
        return edge_ms + near_ms, min(edge_ms + far_ms, until_ms)
    return max(0, edge_ms - far_ms), edge_ms - near_ms


def _about(ms: int) -> int:
    """Return half the width of "half an hour after": a quarter of it, a minute at least."""
    return max(ms // 4, MINUTE_MS) if ms else 0


def _alike(asked: Asked, calls: Calls, anchor: str, *, least: int) -> list[StoredEvent]:
    """Return the events that show the anchor. least: the number of them that the question takes for granted.

    Words decide where enough events have most of them: "visit of a drinking fox" is in the events of foxes that drink,
    and near to those of all foxes. Elsewhere nearness decides, among events with one of the words if there are enough.
    """
    query = embed_queries(asked.models.text_embedder, [anchor], meter=calls.meter)[0]
    views: dict[ViewName, ViewQuery] = {
        "event": ViewQuery(query, CANDIDATES),
        "words": ViewQuery(NO_VECTOR, CANDIDATES, text=anchor),
    }
    found = asked.graph.search_views(views, floor=asked.settings.retrieval.floor)
    events = asked.graph.load_events(list({hit.event_id for hits in found.values() for hit in hits}))
    wanted = content_words(anchor)
    shared = {event_id: len(wanted & content_words(event_text(event))) for event_id, event in events.items()}
    for count in range(len(wanted), len(wanted) // 2, -1):
        worded = [event_id for event_id, words in shared.items() if words >= count]
        if len(worded) >= least:
            return [events[event_id] for event_id in worded]
    hits = [hit for hit in found["event"] if hit.event_id in events]
    if sum(bool(shared[hit.event_id]) for hit in hits) >= least:
        hits = [hit for hit in hits if shared[hit.event_id]]
    near = _clearly_nearer([hit.similarity for hit in hits], least=least)
    return [events[hit.event_id] for hit in hits[:near]]


def _clearly_nearer(similarities: Sequence[float], *, least: int) -> int:
    """Return the number of similarities before the widest gap that at least `least` of them precede, in falling order.

    All of them if there are not more. No fixed similarity says what shows an anchor: it depends on the words.
    """
    gaps = {n: similarities[n - 1] - similarities[n] for n in range(least, len(similarities))}
    return max(gaps, key=lambda n: (gaps[n], -n), default=len(similarities))


def _occurrences(events: Sequence[StoredEvent]) -> list[Span]:
    """Return the spans of runs of events that follow one another, in order of time."""
    runs: list[Span] = []
    last = -1
    for event in sorted(events, key=lambda event: event.n):
        if runs and event.n == last + 1:
            runs[-1] = Span(runs[-1].start_ms, event.span.end_ms)
        else:
            runs.append(event.span)
        last = event.n
    return runs


def _nth(nth: int) -> str:
    if nth < 0:
        return "the last"
    if nth == 1:
        return "the first"
    ending = {1: "st", 2: "nd", 3: "rd"}.get(nth % 10 if nth % 100 not in (11, 12, 13) else 0, "th")
    return f"the {nth}{ending}"
