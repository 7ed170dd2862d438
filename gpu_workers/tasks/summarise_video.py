"""Tells the topics and the overview of what is indexed so far; after the last segment, it ends the version.

A run reads the events after the last closed topic only. The version becomes ready with its summary, or without it when
telling fails for good: the job's error then stays with the summary.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from django.conf import settings

from backend.billing.services.ledger import record_model_calls, record_wasted_calls
from backend.ekg.models import Event, Overview
from backend.ekg.reader import frames_between, read_digests, read_linked, read_topics
from backend.ekg.writer import VersionWriter
from backend.jobs.services import JobFailed, Lease
from backend.library.indexing.flow import enqueue_summary, is_indexing
from backend.library.models import IndexVersion, Segment, SegmentState, SourceType, Video
from backend.tenancy.context import tenant_scope
from gpu_workers.engine.ekg import EventDigest, Span, Topic, stable_id
from gpu_workers.engine.indexing.global_summary import GlobalSummariser, TopicSettings
from gpu_workers.engine.indexing.linking import Compaction, compact
from gpu_workers.engine.models.roles import Meter, ModelError
from gpu_workers.tasks.assemble_video import finish_version
from gpu_workers.tasks.models import index_models
from workers.runner import FollowUp, Work

logger = logging.getLogger("ava.jobs")

TURN_SECONDS = 300.0
"""How long a run goes on to the next events: well inside a task's time limit, however much there is to tell."""
EVENTS_AT_ONCE = 200
FRAMES_TO_CHOOSE_FROM = 8


@dataclass(frozen=True, slots=True)
class Task:
    """What there is to tell. ended: no more events will come."""

    video: Video
    version: int
    ended: bool
    end_event: int
    topics: list[Topic]


def handle(work: Work) -> FollowUp | None:
    task = load(work)
    if task is None:
        with work.checkpoint():
            work.complete()
        return None
    video, version = task.video, task.version
    meter = Meter()

    def frame_times(span: Span) -> list[int]:
        with tenant_scope(video.tenant_id):
            return [ms for ms, _ in frames_between(video.id, version, span, limit=FRAMES_TO_CHOOSE_FROM)]

    summariser = GlobalSummariser(
        index_models().narrator,
        profile=video.profile,
        meter=meter,
        frame_times=frame_times,
        settings=topic_settings(video),
        topics=task.topics,
    )
    turn_ends = time.monotonic() + TURN_SECONDS
    told = first = summariser.next_event_n
    try:
        for events in batches(task, first):
            work.require_lease()
            summariser.push(events)
            told = events[-1].n + 1
            # Not before a topic is closed: the next run begins there.
            if time.monotonic() >= turn_ends and summariser.next_event_n > first:
                break
        ended = task.ended and told == task.end_event
        topics, overview = summariser.conclude(ended=ended)
    except ModelError as error:
        with tenant_scope(video.tenant_id):
            record_wasted_calls(calls=meter.calls, reason=error.code, video_id=video.id)
        raise JobFailed(error.code, str(error), retryable=error.retryable) from error
    for warning in summariser.warnings:
        logger.warning("summary of video %s: %s: %s: %s", video.id, warning.stage, warning.code, warning.message)
    compaction = linked_anew(task) if ended and settings.INDEX_LINKING == "kmeans" else None
    with work.checkpoint():
        if is_indexing(video.id, version):
            if told < task.end_event:
                # Ringing for itself gives the rest its own time limit and attempts.
                enqueue_summary(video.id, version)
            writer = VersionWriter(video.id, version, text_model=index_models().text_embedder.name, frame_model="")
            writer.store_summary(topics, overview)
            if compaction is not None:
                writer.replace_entities(compaction)
            record_model_calls(
                source_type="summarise",
                # Named after what was told, so that a run that tells more is billed and one that repeats is not.
                source_id=stable_id("summary", video.id, version, told, ended),
                calls=meter.calls,
                video_id=video.id,
            )
            if ended:
                finish_version(video.id, version)
        work.complete()
    return None


def load(work: Work) -> Task | None:
    """None when there is nothing to tell: the version is ended, or no event has come since the last time."""
    with tenant_scope(work.lease.tenant_id):
        built = IndexVersion.objects.filter(id=work.lease.subject_id).first()
        if built is None or not is_indexing(built.video_id, built.n):
            return None
        here = {"video_id": built.video_id, "index_version": built.n}
        ended = is_whole(built.video_id, built.n)
        last = Event.objects.filter(**here).order_by("-n").values_list("n", "end_ms").first()
        told_until_ms = Overview.objects.filter(**here).values_list("until_ms", flat=True).first() or 0
        if not ended and (last is None or last[1] <= told_until_ms):
            return None
        return Task(
            video=Video.objects.get(id=built.video_id),
            version=built.n,
            ended=ended,
            end_event=0 if last is None else last[0] + 1,
            topics=read_topics(built.video_id, built.n),
        )


def is_whole(video_id: UUID, version: int) -> bool:
    """Whether every segment up to the recording's end is assembled; inside an open tenant_scope."""
    segments = Segment.objects.filter(video_id=video_id, index_version=version)
    if segments.exclude(state=SegmentState.ASSEMBLED).exists():
        return False
    # Only the last segment ends where the recording does (backend.library.indexing.plan).
    duration_ms = Video.objects.values_list("duration_ms", flat=True).get(id=video_id)
    return bool(segments.filter(end_ms=duration_ms).exists())


def topic_settings(video: Video) -> TopicSettings:
    """Of one version always the same: the length of a recording that grows is no measure."""
    return TopicSettings.for_length(None if video.source_type == SourceType.SEGMENTS else video.duration_ms)


def batches(task: Task, first_event: int) -> Iterator[list[EventDigest]]:
    for first in range(first_event, task.end_event, EVENTS_AT_ONCE):
        with tenant_scope(task.video.tenant_id):
            events = read_digests(task.video.id, task.version, first, min(first + EVENTS_AT_ONCE, task.end_event))
        yield events


def linked_anew(task: Task) -> Compaction:
    with tenant_scope(task.video.tenant_id):
        linked = read_linked(task.video.id, task.version)
    return compact(task.video.id, task.version, linked.entities, linked.mentions, linked.relations)


def failed(lease: Lease, error: JobFailed) -> None:
    """A video can be asked about without its overview: it becomes ready all the same."""
    built = IndexVersion.objects.filter(id=lease.subject_id).first()
    if built is None or not is_indexing(built.video_id, built.n):
        return
    logger.error("video %s, version %d: no summary: %s: %s", built.video_id, built.n, error.code, error)
    if is_whole(built.video_id, built.n):
        finish_version(built.video_id, built.n)
