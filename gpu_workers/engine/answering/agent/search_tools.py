"""Tools that search by meaning: topics, clips, and both at once with the overview."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from gpu_workers.engine.answering.agent.tool import NOTHING_FOUND, Observation, Text, Tool, Whole
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.context import LINE_TOKENS, cut_lines, fitted
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.clock_text import clock
from gpu_workers.engine.ekg import Overview, Topic
from gpu_workers.engine.ports import StoredEvent
from gpu_workers.engine.retrieval.frames import evenly
from gpu_workers.engine.retrieval.tri_view import ViewQueries, retrieve

OVERVIEW_TOKENS = 1_200
MOST_TOPICS = 5
EVENTS_OF_TOPIC = 4
"""Maximum number of events that are listed under a topic that was searched for."""

TOP_K, MOST_TOP_K = 16, 32
VIDEOS = 20
"""Maximum number of videos in one overview."""

PEOPLE = 4


# --- the whole -------------------------------------------------------------------------------------------------------


def show_overview(toolbox: Toolbox) -> str:
    """Return what the videos are about, as far as it is written, within OVERVIEW_TOKENS; "" if nothing is written yet.

    Of one video it is its summary and a line per topic, or as many topics of the whole video as fit; of several a line
    for each of the first VIDEOS. The overview is noted as shown.
    """
    graph, videos = toolbox.asked.graph, list(toolbox.videos.items())
    written = False
    lines: list[str] = []
    if len(videos) > VIDEOS:
        lines.append(f"There are {len(videos)} videos; the first {VIDEOS} are listed.")
    share = (OVERVIEW_TOKENS - sum(map(toolbox.count_tokens, lines))) // max(1, min(VIDEOS, len(videos)))
    for number, video in videos[:VIDEOS]:
        summary, topics = graph.overview(video), graph.topics(video)
        written |= summary is not None or bool(topics)
        behind = _behind(toolbox, video, summary, topics)
        if toolbox.several:
            about = as_data(summary.text) if summary else "; ".join(as_data(topic.title) for topic in topics)
            line = f"video {number}: {behind}{about or 'not summarised yet'}"
            lines.append(fitted(line, toolbox.count_tokens, max(LINE_TOKENS, share)))
            continue
        lines += [behind.strip()] if behind else []
        if summary is not None:
            lines.append(fitted(f"Summary: {as_data(summary.text)}", toolbox.count_tokens, OVERVIEW_TOKENS // 2))
        room = OVERVIEW_TOKENS - sum(map(toolbox.count_tokens, lines))
        lines += _spread_topics(toolbox, [_topic_line(toolbox, video, topic) for topic in topics], room)
    if not written:
        return ""
    text = cut_lines("\n".join(lines), toolbox.count_tokens, OVERVIEW_TOKENS)
    toolbox.overview_shown = True
    toolbox.evidence.add_note(f"Overview: {text}")
    return text


def _spread_topics(toolbox: Toolbox, lines: Sequence[str], room: int) -> list[str]:
    """Return all lines; or, if they do not fit, as many as do, spread evenly, after their number and that of all."""
    shown = len(lines)
    while True:
        note = [f"{shown} of {len(lines)} topics, evenly chosen:"] if shown < len(lines) else []
        chosen = [*note, *(lines[index] for index in evenly(len(lines), shown))]
        if shown <= 1 or toolbox.count_tokens("\n".join(chosen)) <= room:
            return chosen
        shown = min(shown - 1, shown * 9 // 10)


def _topic_line(toolbox: Toolbox, video: UUID, topic: Topic) -> str:
    people = ", ".join(as_data(name) for name in topic.people[:PEOPLE])
    return f"{toolbox.place(video, topic.span)} {as_data(topic.title)}{f' ({people})' if people else ''}"


def _behind(toolbox: Toolbox, video: UUID, summary: Overview | None, topics: Sequence[Topic]) -> str:
    """Return how far the overview goes, if a search goes further; else ""."""
    covered_ms = summary.until_ms if summary is not None else max((topic.span.end_ms for topic in topics), default=0)
    until = toolbox.extents[video].end_ms
    if not 0 < covered_ms < until:
        return ""
    covered, end = clock(covered_ms, hours=True), clock(until, hours=True)
    return f"(The video is still being indexed: this covers it up to {covered}, a search up to {end}.) "


# --- topics ----------------------------------------------------------------------------------------------------------


def _show_topics(toolbox: Toolbox, query: str, limit: int = MOST_TOPICS) -> Observation:
    """Return the topics nearest in meaning to query, each with the first of its events. Raises ModelError."""
    hits = toolbox.search("topic", toolbox.text_vector(query), limit)
    toolbox.record_similarities(hit.similarity for hit in hits)
    found: dict[tuple[UUID, int], Topic] = {}
    for event in toolbox.load(hit.event_id for hit in hits):
        for topic in toolbox.asked.graph.topics(event.video_id):
            if topic.first_event <= event.n < topic.end_event:
                found.setdefault((event.video_id, topic.first_event), topic)
    if not found:
        return Observation("No part of the video is about that.", NOTHING_FOUND)
    room = toolbox.observation_tokens // (2 * len(found))
    lines: list[str] = []
    events: dict[UUID, None] = {}
    cut = False
    for (video, _), topic in found.items():
        about = f"Part {toolbox.place(video, topic.span)} {as_data(topic.title)}: {as_data(topic.summary)}"
        inside = toolbox.events_at(video, topic.span, EVENTS_OF_TOPIC + 1)
        cut |= len(inside) > EVENTS_OF_TOPIC
        listed = inside[:EVENTS_OF_TOPIC]
        events |= dict.fromkeys(event.id for event in listed)
        lines += [fitted(about, toolbox.count_tokens, room), *event_lines(toolbox, listed, room)]
    return Observation("\n".join(lines), cut=cut, events=tuple(events))


TOPIC_SEARCH = Tool(
    "topic_search",
    "Finds the parts of the video that are about something, with their first events.",
    {"query": Text()},
    frozenset({"topics", "events"}),
    3,
    lambda toolbox, arguments: _show_topics(toolbox, arguments["query"]),
)


# --- clips -----------------------------------------------------------------------------------------------------------


def clips_like(toolbox: Toolbox, query: str, limit: int) -> list[StoredEvent]:
    """Return at most limit events that fit query best, in order of time: by all views, at effort `paper` by the texts
    of the events alone. Raises ModelError."""
    asked = toolbox.asked
    if asked.settings.effort == "paper":
        hits = toolbox.search("event", toolbox.text_vector(query), limit)
        toolbox.record_similarities(hit.similarity for hit in hits)
        ids = [hit.event_id for hit in hits]
    else:
        settings = asked.settings.retrieval
        found = retrieve(
            asked.graph,
            ViewQueries.same(query),
            replace(settings, events=max(settings.events, limit)),
            text_embedder=asked.models.text_embedder,
            frame_embedder=asked.models.frame_embedder,
            meter=toolbox.meter,
        )
        toolbox.record_similarities([found.top_similarity])
        ids = [event.event_id for event in found.ranking[:limit]]
    return sorted(toolbox.load(ids), key=lambda event: (event.video_id, event.span, event.id))


def _show_clips(toolbox: Toolbox, query: str, top_k: int) -> Observation:
    """Return the events that fit query best, a line each, in order of time. Raises ModelError."""
    events = clips_like(toolbox, query, top_k)
    if not events:
        return Observation("Nothing in the video is like that. Use other words.", NOTHING_FOUND)
    lines = event_lines(toolbox, events, toolbox.observation_tokens)
    return Observation("\n".join(lines), events=tuple(event.id for event in events))


def event_lines(toolbox: Toolbox, events: Sequence[StoredEvent], tokens: int) -> list[str]:
    """Number the events, and return a line for each, of an equal share of tokens."""
    share = max(LINE_TOKENS, tokens // max(1, len(events)))
    return [toolbox.event_line(event, most_tokens=share) for event in events]


def clip_search(top_k: int = TOP_K) -> Tool:
    """Return the tool that finds events by what happens in them. top_k: maximum number that it returns."""
    return Tool(
        "clip_search",
        f"Finds the events that fit a description best, in order of time. Ask for {top_k} unless fewer will do.",
        {"query": Text(), "top_k": Whole(1, MOST_TOP_K, default=top_k)},
        frozenset({"events"}),
        6,
        lambda toolbox, arguments: _show_clips(toolbox, arguments["query"], arguments["top_k"]),
    )


# --- all at once -----------------------------------------------------------------------------------------------------


def browse(toolbox: Toolbox, query: str, top_k: int) -> Observation:
    """Return the overview, the topics and the events nearest to query, as much as an observation of each takes. Raises
    ModelError."""
    summarised = "topics" in toolbox.artifacts
    overview = show_overview(toolbox) if summarised else ""
    topics = _show_topics(toolbox, query, 2) if summarised else Observation("", NOTHING_FOUND)
    clips = _show_clips(toolbox, query, top_k)
    parts = [overview, *(found.text for found in (topics, clips) if not found.error)]
    if not any(parts):
        return clips
    events = dict.fromkeys((*topics.events, *clips.events))
    return Observation("\n".join(part for part in parts if part), cut=topics.cut, events=tuple(events))


def global_browse(top_k: int) -> Tool:
    """Return the tool that shows the whole and what is nearest to a query."""
    return Tool(
        "global_browse",
        "What the video is about as a whole, and the parts and events nearest to a query.",
        {"query": Text()},
        frozenset({"events"}),
        2,
        lambda toolbox, arguments: browse(toolbox, arguments["query"], top_k),
    )
