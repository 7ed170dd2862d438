"""Writes the topics and the overview of the events indexed so far; ends the version after the last segment.

A run reads only the events after the last closed topic. The version becomes ready together with its summary. If the
summary fails for good, the version becomes ready without it and the summary keeps the job's error.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from django.conf import settings

from backend.billing.services.usage.ledger import record_model_calls
from backend.ekg.completion import finish_version
from backend.ekg.index_reads import (
    frames_between,
    last_event,
    participations_of,
    read_digests,
    read_linked,
    read_topics,
    summarised_until_ms,
)
from backend.ekg.object_memory import objects_of
from backend.ekg.writer import VersionWriter
from backend.jobs.services import JobFailed, Lease
from backend.library.indexing.completion import is_whole
from backend.library.indexing.follow_ups import enqueue_summary
from backend.library.indexing.versions import is_indexing, round_of, version_of
from backend.library.models import SourceType, Video
from backend.library.queries import find_video
from backend.library.services.attribution import attribution_of
from backend.tenancy.context import tenant_scope
from gpu_workers.engine.ekg import EventDigest, Span, Topic, stable_id
from gpu_workers.engine.indexing.global_summary import GlobalSummariser, TopicSettings
from gpu_workers.engine.indexing.linking import Compaction, compact
from gpu_workers.engine.indexing.object_links import object_links
from gpu_workers.engine.indexing.topic_vectors import with_vectors
from gpu_workers.tasks.failures import failing_job
from gpu_workers.tasks.recent_thumbnails import StoredFrames
from gpu_workers.tasks.sandbox import index_models_of
from workers.runner import FollowUp, Work

logger = logging.getLogger("ava.jobs")

TURN_SECONDS = 300.0
"""Maximum seconds for which a run starts further events: well inside a summary's time limit, for any video length."""
EVENTS_AT_ONCE = 200
FRAMES_TO_CHOOSE_FROM = 8


@dataclass(frozen=True, slots=True)
class Summary:
    """The work of one summary run. ended: no more events will come. end_event: number after the last event."""

    video: Video
    version: int
    ended: bool
    end_event: int


def handle(work: Work) -> FollowUp | None:
    summary = load(work)
    if summary is None:
        work.finish()
        return None
    video, version = summary.video, summary.version
    meter = work.meter()

    def frame_times(span: Span) -> list[int]:
        found = work.reading(lambda: frames_between(video.id, version, span, limit=FRAMES_TO_CHOOSE_FROM))
        return [ms for ms, _ in found]

    def pictures(times: Sequence[int]) -> list[tuple[int, bytes]]:
        at = [Span(ms, ms + 1) for ms in times]
        rows = work.reading(lambda: [row for span in at for row in frames_between(video.id, version, span)])
        return StoredFrames(rows, work.objects())(Span(times[0], times[-1] + 1), len(rows))

    turn_ends = time.monotonic() + TURN_SECONDS
    with failing_job(work):
        models = index_models_of(work.lease.tenant_id)
        embedder = models.text_embedder
        summariser = GlobalSummariser(
            models.narrator,
            profile=video.profile,
            meter=meter,
            frame_times=frame_times,
            settings=topic_settings(video),
            pictures=pictures,
            topics=topics_so_far(work, summary, embedder.name),
        )
        end_reached = first = summariser.next_event_n
        for events in batches(work, summary, first):
            work.require_lease()
            summariser.push(events)
            end_reached = events[-1].n + 1
            # Only after a topic is closed, because the next run begins at the last closed topic.
            if time.monotonic() >= turn_ends and summariser.next_event_n > first:
                break
        ended = summary.ended and end_reached == summary.end_event
        topics, overview = summariser.conclude(ended=ended)
        topics = with_vectors(topics, embedder, meter=meter)
    for warning in summariser.warnings:
        logger.warning("summary of video %s: %s: %s: %s", video.id, warning.stage, warning.code, warning.message)
    compaction = linked_again(work, summary) if ended and settings.INDEX_LINKING == "kmeans" else None

    def store() -> None:
        if is_indexing(video.id, version):
            if end_reached < summary.end_event:
                # Another run of this same job gives the remaining events their own time limit and attempts.
                enqueue_summary(video.id, version)
            writer = VersionWriter(video.id, version, text_model=embedder.name, frame_model="")
            writer.store_summary(topics, overview)
            if compaction is not None:
                writer.replace_entities(compaction)
            # Read after the compaction, which gives entities new ids.
            writer.store_links(object_links(participations_of(video.id, version), objects_of(video.id, version)))
            record_model_calls(
                source_type="summarise",
                # Named after the events covered: a run that covers more is billed, a repeated run is not.
                source_id=round_of(video.id, version, stable_id("summary", video.id, version, end_reached, ended)),
                calls=work.bill(meter),
                attribution=attribution_of(video),
            )
            if ended:
                finish_version(video.id, version)
        work.complete()

    work.commit(store)
    return None


def load(work: Work) -> Summary | None:
    """Return the work of this run; None if the version has ended, or no event has come since the last summary."""
    with tenant_scope(work.lease.tenant_id):
        built = version_of(work.lease.subject_id)
        if built is None or not is_indexing(built.video_id, built.n):
            return None
        ended = is_whole(built.video_id, built.n)
        last = last_event(built.video_id, built.n)
        if not ended and (last is None or last[1] <= summarised_until_ms(built.video_id, built.n)):
            return None
        video = find_video(built.video_id)
        if video is None:
            return None
        return Summary(
            video=video,
            version=built.n,
            ended=ended,
            end_event=0 if last is None else last[0] + 1,
        )


def topics_so_far(work: Work, summary: Summary, text_model: str) -> list[Topic]:
    return work.reading(lambda: read_topics(summary.video.id, summary.version, text_model=text_model))


def topic_settings(video: Video) -> TopicSettings:
    """Return topic settings that stay the same within a version: they ignore the length of a growing recording."""
    return TopicSettings.for_length(None if video.source_type == SourceType.SEGMENTS else video.duration_ms)


def batches(work: Work, summary: Summary, first_event: int) -> Iterator[list[EventDigest]]:
    for first in range(first_event, summary.end_event, EVENTS_AT_ONCE):
        end = min(first + EVENTS_AT_ONCE, summary.end_event)
        yield work.reading(partial(read_digests, summary.video.id, summary.version, first, end))


def linked_again(work: Work, summary: Summary) -> Compaction:
    linked = work.reading(lambda: read_linked(summary.video.id, summary.version))
    return compact(summary.video.id, summary.version, linked.entities, linked.mentions, linked.relations)


def failed(lease: Lease, error: JobFailed) -> None:
    """Make the video ready without its overview: questions do not need the overview."""
    built = version_of(lease.subject_id)
    if built is None or not is_indexing(built.video_id, built.n):
        return
    logger.error("video %s, version %d: no summary: %s: %s", built.video_id, built.n, error.code, error)
    if is_whole(built.video_id, built.n):
        finish_version(built.video_id, built.n)
