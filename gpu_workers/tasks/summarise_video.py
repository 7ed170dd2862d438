"""Tells the topics and the overview of what is indexed so far; after the last segment, it ends the version.

A run reads the events after the last closed topic only. The version becomes ready with its summary, or without it when
telling fails for good: the job's error then stays with the summary.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass

from django.conf import settings

from backend.billing.services.ledger import record_model_calls
from backend.ekg.completion import finish_version
from backend.ekg.index_reads import last_event, summarised_until_ms
from backend.ekg.reader import frames_between, read_digests, read_linked, read_topics
from backend.ekg.writer import VersionWriter
from backend.jobs.services import JobFailed, Lease
from backend.library.indexing.completion import is_whole
from backend.library.indexing.follow_ups import enqueue_summary
from backend.library.indexing.versions import is_indexing, version_of
from backend.library.models import SourceType, Video
from backend.library.queries import find_video
from backend.tenancy.context import tenant_scope
from gpu_workers.engine.ekg import EventDigest, Span, Topic, stable_id
from gpu_workers.engine.indexing.global_summary import GlobalSummariser, TopicSettings
from gpu_workers.engine.indexing.linking import Compaction, compact
from gpu_workers.engine.models.roles import Meter
from gpu_workers.tasks.failures import failing_job
from gpu_workers.tasks.models import index_models
from workers.runner import FollowUp, Work

logger = logging.getLogger("ava.jobs")

TURN_SECONDS = 300.0
"""How long a run goes on to the next events: well inside a summary's time limit, however much there is to tell."""
EVENTS_AT_ONCE = 200
FRAMES_TO_CHOOSE_FROM = 8


@dataclass(frozen=True, slots=True)
class Summary:
    """What there is to summarise. ended: no more events will come. end_event: number after the last event."""

    video: Video
    version: int
    ended: bool
    end_event: int
    topics: list[Topic]


def handle(work: Work) -> FollowUp | None:
    summary = load(work)
    if summary is None:
        work.finish()
        return None
    video, version = summary.video, summary.version
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
        topics=summary.topics,
    )
    turn_ends = time.monotonic() + TURN_SECONDS
    told = first = summariser.next_event_n
    with failing_job(work, meter, video_id=video.id):
        for events in batches(summary, first):
            work.require_lease()
            summariser.push(events)
            told = events[-1].n + 1
            # Not before a topic is closed: the next run begins there.
            if time.monotonic() >= turn_ends and summariser.next_event_n > first:
                break
        ended = summary.ended and told == summary.end_event
        topics, overview = summariser.conclude(ended=ended)
    for warning in summariser.warnings:
        logger.warning("summary of video %s: %s: %s: %s", video.id, warning.stage, warning.code, warning.message)
    compaction = linked_anew(summary) if ended and settings.INDEX_LINKING == "kmeans" else None
    with work.checkpoint():
        if is_indexing(video.id, version):
            if told < summary.end_event:
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


def load(work: Work) -> Summary | None:
    """Return what there is to summarise; None if the version has ended, or no event has come since the last summary."""
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
            topics=read_topics(built.video_id, built.n),
        )


def topic_settings(video: Video) -> TopicSettings:
    """Of one version always the same: the length of a recording that grows is no measure."""
    return TopicSettings.for_length(None if video.source_type == SourceType.SEGMENTS else video.duration_ms)


def batches(summary: Summary, first_event: int) -> Iterator[list[EventDigest]]:
    for first in range(first_event, summary.end_event, EVENTS_AT_ONCE):
        with tenant_scope(summary.video.tenant_id):
            events = read_digests(
                summary.video.id, summary.version, first, min(first + EVENTS_AT_ONCE, summary.end_event)
            )
        yield events


def linked_anew(summary: Summary) -> Compaction:
    with tenant_scope(summary.video.tenant_id):
        linked = read_linked(summary.video.id, summary.version)
    return compact(summary.video.id, summary.version, linked.entities, linked.mentions, linked.relations)


def failed(lease: Lease, error: JobFailed) -> None:
    """A video can be asked about without its overview: it becomes ready all the same."""
    built = version_of(lease.subject_id)
    if built is None or not is_indexing(built.video_id, built.n):
        return
    logger.error("video %s, version %d: no summary: %s: %s", built.video_id, built.n, error.code, error)
    if is_whole(built.video_id, built.n):
        finish_version(built.video_id, built.n)
