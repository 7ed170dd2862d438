"""Tools on what was written at index time: `caption_retrieval` by time, `transcript_search` and `term_frequency` by
words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any
from uuid import UUID

from gpu_workers.engine.answering.agent.tools.contract import (
    NOTHING_FOUND,
    OUT_OF_RANGE,
    BadArguments,
    Millis,
    Observation,
    Text,
    Tool,
    VideoNumber,
)
from gpu_workers.engine.answering.agent.tools.desk import Desk
from gpu_workers.engine.answering.agent.tools.spoken_words import Place, places_of, words_of
from gpu_workers.engine.answering.context import cut
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.ekg import Chunk, Span
from gpu_workers.engine.models.roles import embed_queries
from gpu_workers.engine.ports import StoredEvent, StoredLine, ViewQuery

LINES = 5
"""Number of spoken lines that a search returns, and of places that a count names."""

LINES_COUNTED = 5_000
"""Maximum number of lines in which a term is counted."""

MAX_CHUNKS = 4_096
"""Maximum number of chunks that one call reads to name those that it does not show."""


def caption_retrieval(window: int) -> Tool:
    """Return the tool that shows the descriptions of a stretch of time. window: maximum number of chunks shown."""

    def use(desk: Desk, arguments: Mapping[str, Any]) -> Observation:
        return read_captions(desk, arguments["video"], arguments["start_ms"], arguments["end_ms"], window=window)

    return Tool(
        name="caption_retrieval",
        description=f"Read the descriptions of at most {window} slices of 3 s between two times.",
        arguments={"video": VideoNumber(), "start_ms": Millis(), "end_ms": Millis()},
        needs=frozenset({"events"}),
        most=8,
        use=use,
    )


def read_captions(desk: Desk, video: int, start_ms: int, end_ms: int, *, window: int) -> Observation:
    """Return the first `window` chunks between two times in words, gaps named; later ones are counted, not shown.

    Raises BadArguments if the times do not run forward.
    """
    if end_ms <= start_ms:
        raise BadArguments("end_ms must be greater than start_ms.")
    video_id = desk.video(video)
    extent = desk.extents.get(video_id) if video_id is not None else None
    if video_id is None or extent is None:
        return Observation("Nothing of that video can be read.", OUT_OF_RANGE)
    asked = Span(start_ms, end_ms).cut_to(extent)
    if asked is None:
        return Observation(
            f"Nothing there: this video can be read from {extent.start_ms} to {extent.end_ms} ms "
            f"({desk.place(video_id, extent)}).",
            OUT_OF_RANGE,
        )
    chunks = desk.asked.graph.chunks_between(video_id, asked, limit=MAX_CHUNKS)
    if not chunks:
        return Observation(f"Nothing is described at {desk.place(video_id, asked)}.", NOTHING_FOUND)
    shown = chunks[:window]
    events = desk.events_at(video_id, Span(shown[0].span.start_ms, shown[-1].span.end_ms), limit=window + 1)
    lines = _chunk_lines(desk, video_id, shown, events, desk.observation_tokens)
    rest = chunks[len(lines) :]
    seen = [event for event in events if any(event.span.overlaps(chunk.span) for chunk in shown[: len(lines)])]
    if rest:
        more = "more than " if len(chunks) == MAX_CHUNKS else ""
        until = rest[-1].span.end_ms if not more else asked.end_ms
        lines.append(
            f"{more}{len(rest)} slices more, {desk.place(video_id, Span(rest[0].span.start_ms, until))}, are not "
            f"shown: ask again from {rest[0].span.start_ms} ms."
        )
    return Observation("\n".join(lines), cut=bool(rest), events=tuple(event.id for event in seen))


def _chunk_lines(
    desk: Desk, video_id: UUID, chunks: Sequence[Chunk], events: Sequence[StoredEvent], room: int
) -> list[str]:
    """Return the chunks as lines within room tokens, each cut to its share; their events are numbered as seen."""
    count = desk.asked.models.reasoner.count_tokens
    share = max(1, room // max(1, len(chunks)))
    lines: list[str] = []
    used = 0
    for chunk in chunks:
        text = _in_words(chunk)
        place = desk.place(video_id, chunk.span)
        if count(text) > share:
            text = cut(text, count, share)
        if lines and used + count(f"E999 {place}: {text}") > room + share:
            break
        here = [event for event in events if event.span.overlaps(chunk.span)]
        lines.append(f"{' '.join(map(desk.sightings.event, here))} {place}: {text}".strip())
        if chunk.description is not None and any(len(event.chunks) > 1 for event in here):
            # The event's own text sums up several chunks.
            desk.sightings.noted(f"{place}: {text}")
        used += count(lines[-1])
    return lines


def _in_words(chunk: Chunk) -> str:
    parts = [as_data(chunk.description) if chunk.description is not None else f"not described ({chunk.gap})"]
    spoken = dict.fromkeys(as_data(line.text) for line in chunk.transcript)
    if spoken:
        parts.append(f'Speech: "{" ".join(spoken)}"')
    if chunk.on_screen_text:
        parts.append(f'On screen: "{"; ".join(map(as_data, chunk.on_screen_text))}"')
    return " ".join(parts)


def search_speech(desk: Desk, query: str, *, limit: int) -> list[StoredLine]:
    """Return at most limit spoken lines nearest in meaning to query, in order of video and time. Raises ModelError of
    the embedder."""
    vector = embed_queries(desk.asked.models.text_embedder, [query], meter=desk.meter)[0]
    floor = desk.asked.settings.retrieval.floor
    hits = desk.asked.graph.search_views({"transcript": ViewQuery(vector, limit)}, floor=floor)["transcript"]
    ids = list(dict.fromkeys(hit.item for hit in hits if hit.item is not None))
    desk.matched(hit.similarity for hit in hits)
    return list(desk.asked.graph.lines(ids))


def _search(desk: Desk, arguments: Mapping[str, Any]) -> Observation:
    lines = search_speech(desk, arguments["query"], limit=LINES)
    if not lines:
        return Observation("Nothing like that is said.", NOTHING_FOUND)
    texts, events = spoken_lines(desk, lines)
    return Observation("\n".join(texts), events=events, lines=tuple(line.id for line in lines))


def spoken_lines(desk: Desk, lines: Iterable[StoredLine]) -> tuple[list[str], tuple[UUID, ...]]:
    """Number the lines, and the events that they begin in, as seen. Return a text for each line, and the events."""
    texts: list[str] = []
    events: dict[UUID, None] = {}
    for line in lines:
        here = desk.events_at(line.video_id, line.span, limit=1)
        numbers = "".join(f" in {desk.sightings.event(event)}" for event in here)
        events.update((event.id, None) for event in here)
        number = desk.sightings.line(line)
        texts.append(f'{number} {desk.place(line.video_id, line.span)}{numbers}: "{as_data(line.text)}"')
    return texts, tuple(events)


def _count(desk: Desk, arguments: Mapping[str, Any]) -> Observation:
    term = " ".join(words_of(arguments["term"]))
    if not term:
        raise BadArguments("term must be a word or a phrase.")
    lines = desk.asked.graph.lines_containing(term.split(), limit=LINES_COUNTED)
    places = places_spoken(desk, term, lines)
    if not places:
        return Observation(f'"{as_data(term)}" is not said: 0 times.', NOTHING_FOUND)
    least = "at least " if len(lines) == LINES_COUNTED else ""
    times = f"{least}{len(places)} time{'' if len(places) == 1 else 's'}"
    firsts = ", ".join(desk.place(place.line.video_id, place.span) for place in places[:LINES])
    told = f'"{as_data(term)}" is said {times}; {"first" if len(places) > LINES else "at"} {firsts}.'
    desk.sightings.noted(told)
    named = list({place.line.id: place.line for place in places[:LINES]}.values())
    texts, events = spoken_lines(desk, named)
    return Observation(
        "\n".join([told, *texts]),
        cut=len(places) > LINES,
        events=events,
        lines=tuple(line.id for line in named),
    )


def places_spoken(desk: Desk, term: str, lines: Sequence[StoredLine]) -> list[Place]:
    """Return where the words of term are said one after the other, as places_of, in the scope of a question."""
    return places_of(term, lines, desk.extents, interrupted=partial(_interrupted, desk))


def _interrupted(desk: Desk, before: StoredLine, after: StoredLine) -> bool:
    """Whether words of another line are spoken between two lines of a video."""
    if before.span.end_ms >= after.span.start_ms:
        return False
    pause = Span(before.span.end_ms, after.span.start_ms)
    known = {(line.span, line.text) for line in (before, after)}
    chunks = desk.asked.graph.chunks_between(before.video_id, pause, limit=MAX_CHUNKS)
    return any(
        line.span.overlaps(pause) and (line.span, line.text) not in known and bool(words_of(line.text))
        for chunk in chunks
        for line in chunk.transcript
    )


TRANSCRIPT_SEARCH = Tool(
    name="transcript_search",
    description="Find what is said about something, by meaning.",
    arguments={"query": Text()},
    needs=frozenset({"transcript"}),
    most=4,
    use=_search,
)

TERM_FREQUENCY = Tool(
    name="term_frequency",
    description="Count how often a word or a phrase is said, exactly, and where first.",
    arguments={"term": Text(80)},
    needs=frozenset({"transcript"}),
    most=4,
    use=_count,
)
