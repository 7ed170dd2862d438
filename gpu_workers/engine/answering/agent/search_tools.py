"""Tools that search by meaning: topics, clips, and both at once with the overview."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from gpu_workers.engine.answering.agent.tool import NOTHING_FOUND, Observation, Text, Tool, Whole
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.context import LINE_TOKENS, cut_lines
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.clock_text import clock
from gpu_workers.engine.ekg import Overview, Topic
from gpu_workers.engine.models.roles import embed_queries
from gpu_workers.engine.ports import StoredEvent, ViewQuery
from gpu_workers.engine.retrieval.frames import evenly
from gpu_workers.engine.retrieval.tri_view import ViewQueries, retrieve

OVERVIEW_TOKENS = 1_200
MOST_TOPICS = 5
EVENTS_OF_TOPIC = 4
"""Maximum number of events that are listed under a topic that was searched for."""

TOP_K, MOST_TOP_K = 16, 32
UNEMBEDDED = 200
"""Maximum number of topics that are embedded when asked for, in indexes whose topics have no vectors."""

VIDEOS = 20
"""Maximum number of videos in one overview."""

PEOPLE = 4


# --- the whole -------------------------------------------------------------------------------------------------------


def overview_text(toolbox: Toolbox) -> str:
    """Return what the videos are about, as far as it is written, within OVERVIEW_TOKENS: of one video its summary and a
    line per topic, or as many topics of the whole video as fit; of several a line for each of the first VIDEOS. "" if
    nothing is written yet."""
    graph, videos = toolbox.asked.graph, list(toolbox.videos.items())
    written = False
    lines: list[str] = []
    if len(videos) > VIDEOS:
        lines.append(f"There are {len(videos)} videos; the first {VIDEOS} are listed.")
    count = toolbox.asked.models.reasoner.count_tokens
    share = (OVERVIEW_TOKENS - sum(map(count, lines))) // max(1, min(VIDEOS, len(videos)))
    for number, video in videos[:VIDEOS]:
        summary, topics = graph.overview(video), graph.topics(video)
        written |= summary is not None or bool(topics)
        if toolbox.several:
            about = as_data(summary.text) if summary else "; ".join(as_data(topic.title) for topic in topics)
            behind = _behind(toolbox, video, summary, topics)
            lines.append(_shortened(toolbox, f"video {number}: {behind}{about or 'not summarised yet'}", share))
        else:
            lines += _whole_video(toolbox, video, summary, topics)
    return cut_lines("\n".join(lines), count, OVERVIEW_TOKENS) if written else ""


def _whole_video(toolbox: Toolbox, video: UUID, summary: Overview | None, topics: Sequence[Topic]) -> list[str]:
    """Return the summary and the topics. If not all topics fit, they are spread evenly over the video, with their
    number and that of all topics."""
    head = [behind] if (behind := _behind(toolbox, video, summary, topics).strip()) else []
    if summary is not None:
        head.append(_shortened(toolbox, f"Summary: {as_data(summary.text)}", OVERVIEW_TOKENS // 2))
    count = toolbox.asked.models.reasoner.count_tokens
    lines = [_topic_line(toolbox, video, topic) for topic in topics]
    shown = len(lines)
    while True:
        chosen = [lines[index] for index in evenly(len(lines), shown)]
        note = [f"{shown} of {len(lines)} topics, evenly chosen:"] if shown < len(lines) else []
        whole = [*head, *note, *chosen]
        if shown <= 1 or count("\n".join(whole)) <= OVERVIEW_TOKENS:
            return whole
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


def show_overview(toolbox: Toolbox) -> str:
    """Return overview_text(), and note that it was shown."""
    text = overview_text(toolbox)
    if text:
        toolbox.overview_shown = True
        toolbox.evidence.add_note(f"Overview: {text}")
    return text


# --- topics ----------------------------------------------------------------------------------------------------------


def topics_like(toolbox: Toolbox, query: str, limit: int) -> list[tuple[UUID, Topic]]:
    """Return at most limit topics nearest in meaning to query, best first, with their videos. Raises ModelError."""
    graph, embedder = toolbox.asked.graph, toolbox.asked.models.text_embedder
    vector = embed_queries(embedder, [query], meter=toolbox.meter)[0]
    hits = graph.search_views({"topic": ViewQuery(vector, limit)}, floor=toolbox.asked.settings.retrieval.floor)[
        "topic"
    ]
    toolbox.record_similarities(hit.similarity for hit in hits)
    first_events = {hit.item: hit.event_id for hit in reversed(hits)}
    events = {event.id: event for event in toolbox.load(first_events.values())}
    found: list[tuple[UUID, Topic]] = []
    for item in dict.fromkeys(hit.item for hit in hits):
        event = events.get(first_events[item])
        topics = graph.topics(event.video_id) if event else ()
        found += [
            (event.video_id, topic) for topic in topics if event and topic.first_event <= event.n < topic.end_event
        ]
    if found:
        return found[:limit]
    plain = [
        (video, topic)
        for video in list(toolbox.videos.values())[:VIDEOS]
        for topic in graph.topics(video)
        if topic.embedding is None
    ][:UNEMBEDDED]
    if not plain:
        return []
    cosines = (
        toolbox.asked.models.text_embedder.embed([topic.embedded_text for _, topic in plain], meter=toolbox.meter)
        @ vector
    )
    best = sorted(range(len(plain)), key=lambda index: (-float(cosines[index]), index))[:limit]
    return [plain[index] for index in best if cosines[index] > toolbox.asked.settings.retrieval.floor]


def show_topics(toolbox: Toolbox, query: str, limit: int = MOST_TOPICS) -> Observation:
    """Return the topics nearest to query, each with the first of its events. Raises ModelError."""
    found = topics_like(toolbox, query, limit)
    if not found:
        return Observation("No part of the video is about that.", NOTHING_FOUND)
    room = toolbox.observation_tokens // len(found)
    lines: list[str] = []
    events: list[StoredEvent] = []
    cut = False
    for video, topic in found:
        lines.append(
            _shortened(
                toolbox,
                f"Part {toolbox.place(video, topic.span)} {as_data(topic.title)}: {as_data(topic.summary)}",
                room // 2,
            )
        )
        inside = toolbox.events_at(video, topic.span, EVENTS_OF_TOPIC + 1)
        cut |= len(inside) > EVENTS_OF_TOPIC
        listed = inside[:EVENTS_OF_TOPIC]
        events += listed
        lines += event_lines(toolbox, listed, room // 2)
    return Observation("\n".join(lines), cut=cut, events=tuple(dict.fromkeys(event.id for event in events)))


TOPIC_SEARCH = Tool(
    "topic_search",
    "Finds the parts of the video that are about something, with their first events.",
    {"query": Text()},
    frozenset({"topics", "events"}),
    3,
    lambda toolbox, arguments: show_topics(toolbox, arguments["query"]),
)


# --- clips -----------------------------------------------------------------------------------------------------------


def clips_like(toolbox: Toolbox, query: str, limit: int) -> list[StoredEvent]:
    """Return at most limit events that fit query best, in order of time: by all views, at effort `paper` by the texts
    of the events alone. Raises ModelError."""
    asked = toolbox.asked
    settings, graph = asked.settings.retrieval, asked.graph
    if asked.settings.effort == "paper":
        hits = toolbox.search("event", toolbox.text_vector(query), limit)
        toolbox.record_similarities(hit.similarity for hit in hits)
        ids = [hit.event_id for hit in hits]
    else:
        found = retrieve(
            graph,
            ViewQueries.same(query),
            replace(settings, events=max(settings.events, limit)),
            text_embedder=asked.models.text_embedder,
            frame_embedder=asked.models.frame_embedder,
            meter=toolbox.meter,
        )
        toolbox.record_similarities([found.top_similarity])
        ids = [event.event_id for event in found.ranking[:limit]]
    return sorted(toolbox.load(ids), key=lambda event: (event.video_id, event.span, event.id))


def show_clips(toolbox: Toolbox, query: str, top_k: int) -> Observation:
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
        lambda toolbox, arguments: show_clips(toolbox, arguments["query"], arguments["top_k"]),
    )


# --- all at once -----------------------------------------------------------------------------------------------------


def browse(toolbox: Toolbox, query: str, top_k: int) -> Observation:
    """Return the overview, the topics and the events nearest to query, as much as an observation of each takes. Raises
    ModelError."""
    overview = show_overview(toolbox) if "topics" in toolbox.artifacts else ""
    topics = show_topics(toolbox, query, 2) if "topics" in toolbox.artifacts else Observation("", NOTHING_FOUND)
    clips = show_clips(toolbox, query, top_k)
    parts = [overview, "" if topics.error else topics.text, "" if clips.error else clips.text]
    if not any(parts):
        return clips
    return Observation(
        "\n".join(part for part in parts if part),
        cut=topics.cut,
        events=tuple(dict.fromkeys((*topics.events, *clips.events))),
    )


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


def _shortened(toolbox: Toolbox, text: str, tokens: int) -> str:
    return cut_lines(text, toolbox.asked.models.reasoner.count_tokens, max(LINE_TOKENS, tokens)).replace("\n", " ")
