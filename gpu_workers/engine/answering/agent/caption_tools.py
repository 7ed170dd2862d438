"""Tools on what was written at index time: `caption_retrieval` by time, `transcript_search` and `term_frequency` by
words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any
from uuid import UUID

from gpu_workers.engine.answering.agent.tool import (
    NOTHING_FOUND,
    OUT_OF_RANGE,
    BadArguments,
    Millis,
    Observation,
    Text,
    Tool,
    VideoNumber,
)
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.context import fitted
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.ekg import Chunk, Span
from gpu_workers.engine.ports import StoredEvent, StoredLine

LINES = 5
"""Number of spoken lines that a search returns, and of places that a count names."""

LINES_COUNTED = 5_000
"""Maximum number of lines in which a term is counted."""

PHRASE_GAP_MS = 1_000
"""Maximum pause between two lines that a phrase runs over."""

_WORD = re.compile(r"\w+(?:['’]\w+)*")


def caption_retrieval(window: int) -> Tool:
    """Return the tool that shows the descriptions of a time range. window: maximum number of chunks shown."""
    return Tool(
        name="caption_retrieval",
        description=f"Read the descriptions of at most {window} slices of 3 s between two times.",
        arguments={"video": VideoNumber(), "start_ms": Millis(), "end_ms": Millis()},
        needs=frozenset({"events"}),
        most=8,
        use=partial(_read_captions, window=window),
    )


def _read_captions(toolbox: Toolbox, arguments: Mapping[str, Any], *, window: int) -> Observation:
    """Return the first `window` chunks between two times in words, gaps named, each within its share of tokens.

    Raises BadArguments if the times do not run forward.
    """
    start_ms, end_ms = arguments["start_ms"], arguments["end_ms"]
    if end_ms <= start_ms:
        raise BadArguments("end_ms must be greater than start_ms.")
    video_id = toolbox.video(arguments["video"])
    extent = toolbox.extents.get(video_id) if video_id is not None else None
    if video_id is None or extent is None:
        return Observation("Nothing of that video can be read.", OUT_OF_RANGE)
    asked = Span(start_ms, end_ms).cut_to(extent)
    if asked is None:
        there = f"{extent.start_ms} to {extent.end_ms} ms ({toolbox.place(video_id, extent)})"
        return Observation(f"Nothing there: this video can be read from {there}.", OUT_OF_RANGE)
    chunks = toolbox.asked.graph.chunks_between(video_id, asked, limit=window + 1)
    if not chunks:
        return Observation(f"Nothing is described at {toolbox.place(video_id, asked)}.", NOTHING_FOUND)
    shown, rest = chunks[:window], chunks[window:]
    events = toolbox.events_at(video_id, Span(shown[0].span.start_ms, shown[-1].span.end_ms), limit=window + 1)
    share = toolbox.observation_tokens // len(shown)
    lines = [_chunk_line(toolbox, video_id, chunk, events, share) for chunk in shown]
    if rest:
        left = Span(rest[0].span.start_ms, max(asked.end_ms, rest[0].span.end_ms))
        lines.append(f"{toolbox.place(video_id, left)} is not shown: ask again from {left.start_ms} ms.")
    return Observation("\n".join(lines), cut=bool(rest), events=tuple(event.id for event in events))


def _chunk_line(toolbox: Toolbox, video_id: UUID, chunk: Chunk, events: Sequence[StoredEvent], most_tokens: int) -> str:
    """Return the chunk as a line, its events numbered as seen."""
    here = [event for event in events if event.span.overlaps(chunk.span)]
    place = toolbox.place(video_id, chunk.span)
    head = f"{' '.join(map(toolbox.evidence.label_event, here))} {place}:".strip()
    text = fitted(chunk_text(chunk), toolbox.count_tokens, max(1, most_tokens - toolbox.count_tokens(head)))
    if chunk.description is not None and any(len(event.chunks) > 1 for event in here):
        # The event's own text sums up several chunks.
        toolbox.evidence.add_note(f"{place}: {text}")
    return f"{head} {text}"


def chunk_text(chunk: Chunk) -> str:
    """Return a chunk in words, as data: its description, speech and writing on screen."""
    parts = [as_data(described(chunk))]
    if spoken := dict.fromkeys(as_data(line.text) for line in chunk.transcript):
        parts.append(f'Speech: "{" ".join(spoken)}"')
    if written := dict.fromkeys(map(as_data, chunk.on_screen_text)):
        parts.append(f'On screen: "{"; ".join(written)}"')
    return " ".join(parts)


def described(chunk: Chunk) -> str:
    """Return a chunk's description, or why there is none."""
    return chunk.description if chunk.description is not None else f"not described ({chunk.gap})"


def search_speech(toolbox: Toolbox, query: str, *, limit: int) -> list[StoredLine]:
    """Return at most limit spoken lines nearest in meaning to query, in order of video and time. Raises ModelError of
    the embedder."""
    hits = toolbox.search("transcript", toolbox.text_vector(query), limit)
    ids = list(dict.fromkeys(hit.item for hit in hits if hit.item is not None))
    toolbox.record_similarities(hit.similarity for hit in hits)
    return list(toolbox.asked.graph.lines(ids))


def _search(toolbox: Toolbox, arguments: Mapping[str, Any]) -> Observation:
    lines = search_speech(toolbox, arguments["query"], limit=LINES)
    if not lines:
        return Observation("Nothing like that is said.", NOTHING_FOUND)
    texts, events = spoken_lines(toolbox, lines)
    return Observation("\n".join(texts), events=events, lines=tuple(line.id for line in lines))


def spoken_lines(toolbox: Toolbox, lines: Iterable[StoredLine]) -> tuple[list[str], tuple[UUID, ...]]:
    """Number the lines, and the events that they begin in, as seen. Return a text for each line, and the events."""
    texts: list[str] = []
    events: dict[UUID, None] = {}
    for line in lines:
        here = toolbox.events_at(line.video_id, line.span, limit=1)
        numbers = "".join(f" in {toolbox.evidence.label_event(event)}" for event in here)
        events.update((event.id, None) for event in here)
        number = toolbox.evidence.label_line(line)
        texts.append(f'{number} {toolbox.place(line.video_id, line.span)}{numbers}: "{as_data(line.text)}"')
    return texts, tuple(events)


def _count(toolbox: Toolbox, arguments: Mapping[str, Any]) -> Observation:
    term = " ".join(words_of(arguments["term"]))
    if not term:
        raise BadArguments("term must be a word or a phrase.")
    lines = toolbox.asked.graph.lines_containing(term.split(), limit=LINES_COUNTED)
    places = find_spoken(toolbox, term, lines)
    if not places:
        return Observation(f'"{as_data(term)}" is not said: 0 times.', NOTHING_FOUND)
    least = "at least " if len(lines) == LINES_COUNTED else ""
    times = f"{least}{len(places)} time{'' if len(places) == 1 else 's'}"
    firsts = ", ".join(toolbox.place(place.line.video_id, place.span) for place in places[:LINES])
    counted = f'"{as_data(term)}" is said {times}; {"first" if len(places) > LINES else "at"} {firsts}.'
    toolbox.evidence.add_note(counted)
    named = list({place.line.id: place.line for place in places[:LINES]}.values())
    texts, events = spoken_lines(toolbox, named)
    return Observation(
        "\n".join([counted, *texts]), cut=len(places) > LINES, events=events, lines=tuple(line.id for line in named)
    )


@dataclass(frozen=True, slots=True)
class SpokenTerm:
    """Where a word or a phrase is said. line: the one in which it begins. span: its own times, or its line's if the
    transcriber did not time it word by word."""

    words: str
    line: StoredLine
    span: Span


def words_of(text: str) -> list[str]:
    """Return the words of a text in one form: case, accents' encoding and punctuation do not count, and a hyphen
    separates words."""
    return [word.replace("’", "'") for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold())]


def find_spoken(toolbox: Toolbox, term: str, lines: Sequence[StoredLine]) -> list[SpokenTerm]:
    """Return where the words of term are said one after the other, in order of video and time; they do not overlap.

    lines: at least those that contain one of the words, in order of video and time. A phrase may run over lines that
    are PHRASE_GAP_MS apart. A line that reaches beyond what may be read counts by the times of its words, and without
    these as a whole if it begins inside.
    """
    wanted = words_of(term)
    found: list[SpokenTerm] = []
    for group in _close_lines(lines) if wanted else ():
        words = [word for line in group for word in _readable(line, toolbox.extents)]
        at = 0
        while at + len(wanted) <= len(words):
            said = words[at : at + len(wanted)]
            if [word.words for word in said] != wanted:
                at += 1
                continue
            end_ms = max(word.span.end_ms for word in said)
            found.append(SpokenTerm(term, said[0].line, Span(said[0].span.start_ms, end_ms)))
            at += len(wanted)
    return found


def _close_lines(lines: Sequence[StoredLine]) -> Iterator[list[StoredLine]]:
    """Yield the lines in groups that follow each other closely."""
    group: list[StoredLine] = list(lines[:1])
    for before, after in pairwise(lines):
        if before.video_id != after.video_id or after.span.start_ms - before.span.end_ms > PHRASE_GAP_MS:
            yield group
            group = []
        group.append(after)
    if group:
        yield group


def _readable(line: StoredLine, extents: Mapping[UUID, Span]) -> list[SpokenTerm]:
    """Return the words of the line that begin inside what may be read of its video."""
    extent = extents.get(line.video_id)
    if extent is None:
        return []
    timed = [
        SpokenTerm(word, line, Span(start_ms, max(end_ms, start_ms + 1)))
        for start_ms, end_ms, text in line.words
        for word in words_of(text)
    ]
    words = words_of(line.text)
    if [spoken.words for spoken in timed] != words and (extent.holds(line.span) or not timed):
        timed = [SpokenTerm(word, line, line.span) for word in words]
    return [spoken for spoken in timed if extent.contains(spoken.span.start_ms)]


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
