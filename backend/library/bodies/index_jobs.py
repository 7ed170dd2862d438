"""Index jobs on the wire: the indexing of one video, with its id under another prefix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rest_framework import serializers

from backend.api.bodies import ResourceErrorSerializer, StrictSerializer, TimeSpanSerializer
from backend.api.listing import ListQuerySerializer
from backend.api.public_ids import PublicIdField
from backend.jobs.bodies import PRIORITY_HELP, DeadlineField, PriorityField
from backend.library.indexing.progress import IndexJob, index_jobs
from backend.library.models import Video

STATUSES = ("queued", "running", "paused", "succeeded", "failed", "canceled")
STAGES = ("probe", "input", "observe", "assemble", "summarise", "")


class IndexJobQuerySerializer(ListQuerySerializer):
    video_id = PublicIdField("vid", required=False)


class IndexJobUpdateRequestSerializer(StrictSerializer):
    """Changes of an index job that is not over."""

    priority = PriorityField(required=False, help_text=PRIORITY_HELP)
    deadline_at = DeadlineField(required=False, help_text="When the job ends with what it has.")


class IndexJobRetryRequestSerializer(TimeSpanSerializer):
    """The part of the recording whose gaps are indexed again; an empty body retries everything that failed."""


class IndexJobProgressSerializer(serializers.Serializer[Any]):
    done = serializers.IntegerField()
    total = serializers.IntegerField(
        help_text="Number of segments; 0 until the file is read. It rises while the input is open."
    )
    unit = serializers.CharField()
    percent = serializers.FloatField()


class IndexJobErrorSerializer(ResourceErrorSerializer):
    """Why an index job failed."""

    retryable = serializers.BooleanField(help_text="Whether a retry of the index job may succeed.")


class IndexJobSerializer(serializers.Serializer[Any]):
    id = PublicIdField("job")
    object = serializers.CharField()
    video_id = PublicIdField("vid")
    index_version = serializers.IntegerField(help_text="The version that is being built, or the latest version.")
    status = serializers.ChoiceField(STATUSES)
    stage = serializers.ChoiceField(
        STAGES,
        help_text="Empty unless queued or running. `input`: all appended segments are indexed, and more may come.",
    )
    progress = IndexJobProgressSerializer()
    observed_ms = serializers.IntegerField(
        help_text="Video time observed so far. Events follow as segments are assembled."
    )
    attempt = serializers.IntegerField(help_text="Highest number of attempts of any step.")
    seconds_left = serializers.IntegerField(
        allow_null=True,
        help_text="Estimated time until the video is ready, at the pace of the last hour; null while it is unknown.",
    )
    priority = PriorityField(source="rank", help_text=PRIORITY_HELP)
    deadline_at = serializers.DateTimeField(
        allow_null=True, help_text="When the job ends with what it has; null for our own limit."
    )
    paused_at = serializers.DateTimeField(allow_null=True, help_text="When the job was paused; null if it is not.")
    error = IndexJobErrorSerializer(allow_null=True)
    external_id = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    completed_at = serializers.DateTimeField(allow_null=True)


def index_job_bodies(rows: Sequence[Video]) -> list[Any]:
    """Return the index jobs of videos, in a fixed number of queries."""
    return list(IndexJobSerializer([_body(job) for job in index_jobs(rows)], many=True).data)


def _body(job: IndexJob) -> dict[str, Any]:
    video = job.video
    percent = 100.0 if job.status == "succeeded" else round(100 * job.done / job.total, 1) if job.total else 0.0
    error = {"code": video.error_code, "message": video.error_message, "retryable": job.retryable}
    return {
        "id": video.id,
        "object": "index_job",
        "video_id": video.id,
        "index_version": video.building_index_version,
        "status": job.status,
        "stage": job.stage,
        "progress": {"done": job.done, "total": job.total, "unit": "segments", "percent": percent},
        "observed_ms": job.observed_ms,
        "attempt": job.attempt,
        "seconds_left": job.seconds_left,
        "rank": job.rank,
        "deadline_at": video.index_deadline_at,
        "paused_at": video.index_paused_at,
        "error": error if video.error_code else None,
        "external_id": video.external_id,
        "created_at": video.created_at,
        "started_at": job.started_at,
        "completed_at": job.completed_at,
    }
