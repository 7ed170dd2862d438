"""The page of a video: what the index holds over its time, its entities, and the work on its segments."""

from __future__ import annotations

import math
import re
from typing import Any
from uuid import UUID

from django.test import Client
from uuid6 import uuid7

from backend.billing.models import SEGMENT
from backend.billing.services.usage import ledger
from backend.console.queries import timelines
from backend.console.video.timeline import graph_of, lanes
from backend.ekg.models import Entity, TranscriptLine
from backend.library.models import Segment, Video
from gpu_workers.engine.models.roles import ModelCall
from tests.conftest import Cast
from tests.console.indexed import indexed_video
from tests.console.signing_in import open_content


def test_marks_lie_where_they_are_in_the_recording() -> None:
    marks = {
        "events": [{"start_ms": 15_000, "end_ms": 30_000, "shown": "second half"}],
        "gaps": [{"start_ms": 60_000, "end_ms": 61_000, "shown": "behind the end"}],
    }
    (_, (half,)), (_, (late,)) = lanes(marks, 30_000)
    assert (half.left, half.width) == (50.0, 50.0)
    # A mark is never narrower than can be seen, nor does it leave the line.
    assert (late.left, late.width) == (99.8, 0.2)


def test_entities_stand_on_a_circle_with_the_weightiest_at_the_top() -> None:
    entities = [Entity(id=uuid7(), name=name, weight=weight) for name, weight in (("ann", 9), ("bob", 1), ("car", 1))]
    graph = graph_of(entities, [])
    assert (graph.points[0].x, graph.points[0].y) == (320.0, 70.0)
    assert [point.size for point in graph.points] == [10.0, 6.0, 6.0]
    assert all(math.isclose(math.hypot(point.x - 320, point.y - 240), 170) for point in graph.points)
    assert graph_of([], []).points == []


def test_the_page_shows_the_index_over_time_its_entities_and_its_segments(
    staff: Client, acme: Cast, globex: Cast
) -> None:
    video_id = indexed_video(acme)
    indexed_video(globex)
    open_content(staff, acme)
    with acme.scope():
        segment = Segment.objects.get()
        ledger.record_model_calls(
            source_type=SEGMENT, source_id=segment.id, video_id=video_id,
            calls=[ModelCall("describe", "qwen", 1_000, prompt_tokens=900, completion_tokens=80)],
        )  # fmt: skip
    page = staff.get(f"/console/library/video/{video_id}/change/").content.decode()
    for words in ("event 0", "event 1", "Good morning.", "red car", "unreadable", "ann meets bob", "qwen"):
        assert words in page, words
    video = Video.unscoped.using("console").get(id=video_id)
    found = {kind: timelines.marks(video, kind).count() for kind in timelines.KINDS}
    assert found == {"events": 2, "speech": 1, "objects": 1, "gaps": 1}
    assert 'data-seek="9000"' in page


def test_a_long_timeline_says_what_it_draws_and_has_all_marks_on_pages(staff: Client, acme: Cast) -> None:
    video_id = indexed_video(acme, duration_ms=600_000)
    open_content(staff, acme)
    with acme.scope():
        TranscriptLine.objects.bulk_create(
            TranscriptLine(
                tenant_id=acme.tenant_id,
                video_id=video_id,
                index_version=1,
                start_ms=1_000 * n,
                end_ms=1_000 * n + 900,
                text=f"line {n}.",
            )
            for n in range(10, 510)
        )
    address = f"/console/library/video/{video_id}/change/"
    page = staff.get(address).content.decode()
    # 120 spans of 5 s hold the 501 lines, which lie between 3 s and 510 s.
    assert "501 speech are drawn as 101 spans of time." in page
    assert '<a href="?speech=1#speech">Speech as a list</a> <small>501</small>' in page
    first = staff.get(f"{address}?speech=1").content.decode()
    assert ("1 to 20 of 501 are shown." in first, "line 28." in first, "line 29." in first) == (True, True, False)
    last = staff.get(f"{address}?speech=26").content.decode()
    assert ("501 to 501 of 501 are shown." in last, "line 509." in last, '<details id="speech" open>' in last) == (
        True, True, True,
    )  # fmt: skip


def test_reads_name_the_tenant_of_the_video(acme: Cast, globex: Cast) -> None:
    mine, theirs = indexed_video(acme), indexed_video(globex)
    videos: dict[UUID, Any] = {video.id: video for video in Video.unscoped.using("console").all()}
    entities, relations = timelines.entities(videos[mine])
    assert {entity.tenant_id for entity in entities} == {acme.tenant_id}
    assert [relation.predicate for relation in relations] == ["meets"]
    assert {row.tenant_id for row in timelines.entities(videos[theirs])[0]} == {globex.tenant_id}


def test_each_segment_leads_to_its_retry(staff: Client, acme: Cast) -> None:
    video_id = indexed_video(acme)
    open_content(staff, acme)
    with acme.scope():
        Video.objects.filter(id=video_id).update(status="ready")
        segment = Segment.objects.get()
    address = f"/console/library/video/{video_id}/change/"
    page = staff.get(address).content.decode()
    link = f"?retry_segment-n={segment.n}#act-retry_segment"
    assert (link in page, '<details class="c-acts c-box">' in page) == (True, True)

    page = staff.get(address + link.partition("#")[0]).content.decode()

    assert '<details class="c-acts c-box" open>' in page
    assert re.search(rf'<form [^>]*id="act-retry_segment".*?name="retry_segment-n" value="{segment.n}"', page, re.S)
    offered = re.findall(r'<button name="verb" value="(\w+)">', page)
    assert offered == ["retry_indexing", "index_again", "retry_segment"]
    with acme.scope():
        Video.objects.filter(id=video_id).update(status="indexing")
    page = staff.get(address).content.decode()
    assert re.findall(r'<button name="verb" value="(\w+)">', page) == [
        "cancel_indexing", "pause_indexing", "put_indexing_first", "put_indexing_last", "set_indexing_deadline",
    ]  # fmt: skip
    assert "#act-retry_segment" not in page
