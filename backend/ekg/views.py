"""The views that find events by similarity: their tables, their filters, and the way from an item to its events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from backend.ekg.arrays import EMPTY_ARRAY
from gpu_workers.engine.ekg import CHUNK_MS
from gpu_workers.engine.ports import ViewName

# from_ms, to_ms: the span of each video that may be read.
SCOPE = (
    "scope AS MATERIALIZED (SELECT * FROM unnest(%(videos)s::uuid[], %(versions)s::int[], %(untils)s::bigint[], "
    "%(starts)s::bigint[], %(ends)s::bigint[]) AS s(video_id, index_version, until_ms, from_ms, to_ms))"
)


def _in_scope(event: str) -> str:
    return (
        f"{event}.tenant_id = %(tenant)s AND {event}.end_ms <= scope.until_ms "
        f"AND {event}.start_ms < scope.to_ms AND {event}.end_ms > scope.from_ms"
    )


EVENT_IN_SCOPE = _in_scope("e")
EVENT_OF_LINE = (
    "e.video_id = line.video_id AND e.index_version = line.index_version "
    "AND e.start_ms < line.end_ms AND e.end_ms > line.start_ms"
)
EVENT_OF_TOPIC = (
    "e.video_id = topic.video_id AND e.index_version = topic.index_version "
    "AND e.n >= topic.first_event AND e.n < topic.end_event"
)
# The chunks of a line lead to its events by an index; a chunk is 3 s long, and its number is its time (invariants).
EVENT_NEAR_LINE = (
    "e.id IN (SELECT c.event_id FROM ekg_chunk c WHERE c.tenant_id = %(tenant)s AND c.video_id = line.video_id "
    f"AND c.index_version = line.index_version AND c.n BETWEEN line.start_ms / {CHUNK_MS} - 1 "
    f"AND line.end_ms / {CHUNK_MS})"
)
# Few columns, because it is joined with every view. The scope is applied only here.
INSIDE = (
    "inside AS MATERIALIZED (SELECT e.id, e.video_id, e.index_version, e.n, e.start_ms, e.end_ms FROM ekg_event e "
    f"JOIN scope USING (video_id, index_version) WHERE {EVENT_IN_SCOPE})"
)
# Events do not overlap, and a scope admits one run of a video's events. So times alone show whether an item is inside,
# without a look-up for each of 36,000 frames. All hits are joined with inside nevertheless.
# The join with scope shows the planner that these are few rows; otherwise it reads all rows of the tenant.
REACH = (
    "reach AS MATERIALIZED (SELECT video_id, index_version, start_ms, end_ms, from_ms, to_ms FROM scope JOIN "
    "(SELECT video_id, index_version, min(start_ms) AS start_ms, max(end_ms) AS end_ms FROM inside "
    "GROUP BY video_id, index_version) span USING (video_id, index_version))"
)
# In a large scope the events are too many to be listed: each use of inside looks its events up.
INSIDE_LARGE = INSIDE.replace("AS MATERIALIZED", "AS NOT MATERIALIZED", 1)
REACH_LARGE = (
    "reach AS MATERIALIZED (SELECT video_id, index_version, from_ms AS start_ms, least(to_ms, until_ms) AS end_ms, "
    "from_ms, to_ms FROM scope)"
)


@dataclass(frozen=True, slots=True)
class Nearby:
    """Items of a view whose vectors are compared in a large scope, as columns of equal length, each the text of an
    array: their ids (events, entities, spoken lines), or the stretches of video that hold them (pictures), in ms.

    neighbours: ids of the events that are read because they precede or follow these, if neighbours count.
    """

    ids: str = EMPTY_ARRAY
    videos: str = EMPTY_ARRAY
    versions: str = EMPTY_ARRAY
    starts: str = EMPTY_ARRAY
    ends: str = EMPTY_ARRAY
    neighbours: str = EMPTY_ARRAY


@dataclass(frozen=True, slots=True)
class View:
    """The items of a view. item: alias of the rows that are matched by the column vector, made by model.
    table: the table of the items. The vectors may lie in another, with the items' ids: rows names it.

    rows: FROM and WHERE that admit items, using inside (the events in scope) and reach (their time). events: joins from
    an item to its events in inside, as e. words: text for the reader after the item's id. tried: a join that costs too
    much for every item, so the best items are tried first until there are enough. carried: columns that tried needs.
    times: start and end of an item whose time is not that of its events.
    ordered: (partition columns, order column) of the items' neighbours, for queries with context.
    nearby: rows in a large scope, from the columns of Nearby. nearby_tried: tried in a large scope.
    """

    table: str
    item: str
    vector: str
    model: Literal["text", "frame"]
    rows: str
    events: str
    words: str
    carried: tuple[str, ...] = ()
    tried: str = ""
    times: tuple[str, str] | None = None
    ordered: tuple[str, str] | None = None
    nearby: str = ""
    nearby_tried: str = ""


VIEWS: Mapping[ViewName, View] = {
    "event": View(
        item="event",
        vector="embedding",
        model="text",
        table="ekg_event",
        rows="ekg_event event JOIN reach USING (video_id, index_version) "
        "WHERE event.start_ms >= reach.start_ms AND event.end_ms <= reach.end_ms",
        events="JOIN inside e ON e.id = event.id",
        words="''",
        ordered=("video_id, index_version", "n"),
        # own: not read for its neighbours alone.
        nearby="(SELECT id, true AS own FROM unnest(%(event_ids)s::uuid[]) id UNION ALL "
        "SELECT id, false FROM unnest(%(event_neighbours)s::uuid[]) id) c CROSS JOIN LATERAL "
        "(SELECT e.* FROM ekg_event e WHERE e.tenant_id = %(tenant)s AND e.id = c.id OFFSET 0) event "
        "JOIN scope USING (video_id, index_version) "
        f"WHERE {_in_scope('event')}",
    ),
    "entity": View(
        item="entity",
        vector="centroid",
        model="text",
        table="ekg_entity",
        rows="ekg_entity entity JOIN reach USING (video_id, index_version) WHERE true",
        # IS TRUE turns this into a look-up in a hash table; the planner cannot know how many events are inside.
        tried="CROSS JOIN LATERAL (SELECT FROM ekg_mention m WHERE m.tenant_id = %(tenant)s "
        "AND m.entity_id = entity.id AND (m.event_id IN (SELECT id FROM inside)) IS TRUE LIMIT 1) seen",
        # ekg_mention is the relational twin of PARTICIPATES_IN, written together with it. From here the graph would
        # cost a second round trip, because Cypher takes its ids only as a parameter.
        events="JOIN ekg_mention m ON m.tenant_id = entity.tenant_id AND m.entity_id = entity.id "
        "JOIN inside e ON e.id = m.event_id",
        words="entity.name",
        nearby="(SELECT DISTINCT unnest(%(entity_ids)s::uuid[]) AS id) c CROSS JOIN LATERAL (SELECT u.* "
        "FROM ekg_entity u WHERE u.tenant_id = %(tenant)s AND u.id = c.id OFFSET 0) entity "
        "JOIN scope USING (video_id, index_version) WHERE true",
        nearby_tried="CROSS JOIN LATERAL (SELECT FROM ekg_mention m JOIN inside e ON e.id = m.event_id "
        "WHERE m.tenant_id = %(tenant)s AND m.entity_id = entity.id LIMIT 1) seen",
    ),
    "frame": View(
        item="frame",
        vector="embedding",
        model="frame",
        table="ekg_frame",
        rows="ekg_framevector frame JOIN reach USING (video_id, index_version) "
        "WHERE frame.ms >= greatest(reach.start_ms, reach.from_ms) AND frame.ms < least(reach.end_ms, reach.to_ms)",
        events="JOIN inside e ON e.id = frame.event_id",
        words="'at ' || frame.ms || ' ms'",
        times=("frame.ms", "frame.ms + 1"),
        nearby="unnest(%(frame_videos)s::uuid[], %(frame_versions)s::int[], %(frame_starts)s::bigint[], "
        "%(frame_ends)s::bigint[]) AS c(video_id, index_version, first_ms, last_ms) "
        "JOIN scope USING (video_id, index_version) CROSS JOIN LATERAL (SELECT f.id, f.ms, f.tenant_id, f.embedding, "
        "f.embedding_model FROM ekg_framevector f "
        "WHERE f.tenant_id = %(tenant)s AND f.video_id = c.video_id AND f.index_version = c.index_version "
        "AND f.ms >= greatest(c.first_ms, scope.from_ms) "
        "AND f.ms < least(c.last_ms, scope.to_ms, scope.until_ms) OFFSET 0) frame WHERE true",
        nearby_tried="CROSS JOIN LATERAL (SELECT FROM ekg_frame f JOIN inside e ON e.id = f.event_id "
        "WHERE f.tenant_id = %(tenant)s AND f.id = frame.id LIMIT 1) frame_event",
    ),
    "transcript": View(
        item="line",
        vector="embedding",
        model="text",
        table="ekg_transcriptline",
        rows="ekg_transcriptline line JOIN reach USING (video_id, index_version) "
        "WHERE line.start_ms < reach.end_ms AND line.end_ms > reach.start_ms",
        # No index finds the events of a time.
        carried=("video_id", "index_version", "line.start_ms", "line.end_ms"),
        tried=f"CROSS JOIN LATERAL (SELECT FROM inside e WHERE {EVENT_OF_LINE} LIMIT 1) line_event",
        events=f"JOIN inside e ON {EVENT_OF_LINE}",
        words="line.text",
        times=("line.start_ms", "line.end_ms"),
        nearby="(SELECT DISTINCT unnest(%(transcript_ids)s::uuid[]) AS id) c CROSS JOIN LATERAL (SELECT l.* "
        "FROM ekg_transcriptline l WHERE l.tenant_id = %(tenant)s AND l.id = c.id OFFSET 0) line "
        "JOIN scope USING (video_id, index_version) WHERE true",
        nearby_tried=f"CROSS JOIN LATERAL (SELECT FROM inside e WHERE {EVENT_OF_LINE} AND {EVENT_NEAR_LINE} LIMIT 1) "
        "line_event",
    ),
    "topic": View(
        item="topic",
        vector="embedding",
        model="text",
        table="ekg_topic",
        # The scope holds the whole topic, since its words cannot be cut.
        rows="ekg_topic topic JOIN scope USING (video_id, index_version) "
        "WHERE topic.start_ms >= scope.from_ms AND topic.end_ms <= least(scope.to_ms, scope.until_ms)",
        carried=("video_id", "index_version", "topic.first_event", "topic.end_event"),
        tried=f"CROSS JOIN LATERAL (SELECT FROM inside e WHERE {EVENT_OF_TOPIC} LIMIT 1) topic_event",
        events=f"JOIN inside e ON {EVENT_OF_TOPIC}",
        words="topic.title",
        times=("topic.start_ms", "topic.end_ms"),
    ),
}
"""Every view that finds events by similarity. A new view is a row here. The view words has a module of its own."""
