"""The queue of record: jobs with leases, and the clock of each class of jobs."""

from __future__ import annotations

from django.db import models
from uuid6 import uuid7

from backend.tenancy.models import TenantRow


class JobKind(models.TextChoices):
    PROBE_VIDEO = "probe_video"
    FETCH_SEGMENT = "fetch_segment"
    INGEST_SEGMENT = "ingest_segment"
    OBSERVE_SEGMENT = "observe_segment"
    RENDER_PIECE = "render_piece"
    ASSEMBLE_VIDEO = "assemble_video"
    SUMMARISE_VIDEO = "summarise_video"
    MAKE_CLIP = "make_clip"
    ANSWER_QUESTION = "answer_question"
    SEARCH_EVENTS = "search_events"
    GRADE_COMPARISON = "grade_comparison"
    STOP_COMPARISON = "stop_comparison"
    DELIVER_WEBHOOK = "deliver_webhook"
    SEND_NOTICE = "send_notice"
    PURGE_VIDEO = "purge_video"
    ERASE_PICTURES = "erase_pictures"
    SWEEP_DELETED = "sweep_deleted"
    RETIRE_VERSION = "retire_version"
    ERASE_TENANT = "erase_tenant"
    SETTLE_FAILURE = "settle_failure"
    EXPIRE_UPLOADS = "expire_uploads"
    RESUME_DELETIONS = "resume_deletions"
    DROP_HISTORY = "drop_history"
    APPLY_RETENTION = "apply_retention"
    RECONCILE_COSTS = "reconcile_costs"
    CLOSE_MONTHS = "close_months"
    EXPORT_BILLING = "export_billing"
    METER_STORAGE = "meter_storage"
    ROLL_UP_USAGE = "roll_up_usage"
    CHECK_INVARIANTS = "check_invariants"
    RETRY_SEGMENTS = "retry_segments"
    REMIND_OVERDUE = "remind_overdue"
    RECORD_ENDINGS = "record_endings"


SYSTEM = "system."
"""Prefix of the classes that serve the installation itself. Their jobs, such as deletions, run for suspended tenants
too."""

QUEUE_OF: dict[str, str] = {
    JobKind.PROBE_VIDEO: "cpu.probe",
    JobKind.FETCH_SEGMENT: "io.fetch",
    JobKind.INGEST_SEGMENT: "cpu.probe",
    JobKind.OBSERVE_SEGMENT: "gpu.index",
    JobKind.RENDER_PIECE: "cpu.render",
    JobKind.ASSEMBLE_VIDEO: "gpu.index",
    JobKind.SUMMARISE_VIDEO: "gpu.index",
    JobKind.MAKE_CLIP: "cpu.render",
    JobKind.ANSWER_QUESTION: "gpu.query",
    JobKind.SEARCH_EVENTS: "gpu.query",
    JobKind.GRADE_COMPARISON: "gpu.query",
    JobKind.STOP_COMPARISON: "system.sweep",
    JobKind.DELIVER_WEBHOOK: "io.webhook",
    JobKind.SEND_NOTICE: "io.webhook",
    # In the class of the job that failed, whose workers have its handler.
    JobKind.SETTLE_FAILURE: "system.sweep",
    JobKind.PURGE_VIDEO: "system.delete",
    JobKind.ERASE_PICTURES: "system.delete",
    JobKind.SWEEP_DELETED: "system.delete",
    JobKind.RETIRE_VERSION: "system.delete",
    JobKind.ERASE_TENANT: "system.delete",
    JobKind.EXPIRE_UPLOADS: "system.sweep",
    JobKind.RESUME_DELETIONS: "system.sweep",
    JobKind.DROP_HISTORY: "system.sweep",
    JobKind.APPLY_RETENTION: "system.sweep",
    JobKind.RECONCILE_COSTS: "system.sweep",
    JobKind.CLOSE_MONTHS: "system.sweep",
    JobKind.EXPORT_BILLING: "system.sweep",
    JobKind.METER_STORAGE: "system.sweep",
    JobKind.ROLL_UP_USAGE: "system.sweep",
    JobKind.CHECK_INVARIANTS: "system.sweep",
    JobKind.RETRY_SEGMENTS: "system.sweep",
    JobKind.REMIND_OVERDUE: "system.sweep",
    JobKind.RECORD_ENDINGS: "system.sweep",
}
"""Class of each kind of job. A class has workers of its own, so slow work of one class never delays another class."""


LOCK_ORDER: tuple[JobKind, ...] = (
    JobKind.SETTLE_FAILURE,
    JobKind.FETCH_SEGMENT,
    JobKind.INGEST_SEGMENT,
    JobKind.PROBE_VIDEO,
    JobKind.OBSERVE_SEGMENT,
    JobKind.ASSEMBLE_VIDEO,
    JobKind.SUMMARISE_VIDEO,
    JobKind.RENDER_PIECE,
    JobKind.MAKE_CLIP,
    JobKind.RETIRE_VERSION,
    JobKind.PURGE_VIDEO,
    JobKind.ERASE_PICTURES,
    JobKind.SWEEP_DELETED,
    JobKind.SEARCH_EVENTS,
    JobKind.ANSWER_QUESTION,
    JobKind.STOP_COMPARISON,
    JobKind.GRADE_COMPARISON,
    JobKind.ERASE_TENANT,
    JobKind.EXPIRE_UPLOADS,
    JobKind.RESUME_DELETIONS,
    JobKind.DROP_HISTORY,
    JobKind.APPLY_RETENTION,
    JobKind.RECONCILE_COSTS,
    JobKind.CLOSE_MONTHS,
    JobKind.EXPORT_BILLING,
    JobKind.METER_STORAGE,
    JobKind.ROLL_UP_USAGE,
    JobKind.CHECK_INVARIANTS,
    JobKind.RETRY_SEGMENTS,
    JobKind.REMIND_OVERDUE,
    JobKind.RECORD_ENDINGS,
    JobKind.DELIVER_WEBHOOK,
    JobKind.SEND_NOTICE,
)
"""Order in which a transaction locks the rows of several jobs; the row of their video comes after all of them.

A checkpoint holds the row of its own job, then enqueues the jobs that follow. So a kind stands before every kind that
its checkpoint enqueues. Two transactions that keep this order never wait for each other in a circle.

SETTLE_FAILURE stands first, because its checkpoint locks the job that failed and enqueues what that job's would. The
checkpoint of the failed job enqueues it out of order, as a new row whose key has the token of its own lease: nobody
else can hold that row or wait for it.
"""


class JobState(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELED = "canceled"
    DEAD = "dead"


class JobRank(models.IntegerChoices):
    """The order of a tenant's own jobs of one class and priority; see backend.jobs.fairness.put_in_rank_order."""

    LOW = -1
    NORMAL = 0
    HIGH = 1


OPEN = models.Q(state__in=[JobState.QUEUED, JobState.RUNNING])
RUNNING = models.Q(state=JobState.RUNNING)
DUE = models.Q(state=JobState.QUEUED, due=True, paused_at=None)
ENDED = models.Q(state__in=[JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELED, JobState.DEAD])
WAITING = models.Q(state=JobState.QUEUED, due=False)
RANKED = models.Q(state=JobState.QUEUED) & ~models.Q(rank=JobRank.NORMAL)
ENDING = models.Q(state=JobState.QUEUED, paused_at=None, deadline_at__isnull=False)


class Job(TenantRow):
    """A unit of work with a lease that says who may do the work until when.

    subject_id: the video, index version, segment, question, search, comparison or delivery that kind implies.
    dedupe_key: unique per tenant. lease_token: rises with every claim; every commit of a worker names the token of its
    claim (fencing). due: whether not_before has passed; the relay sets it. fair_tag: the job's place among those of all
    tenants of its class and priority, lower first (backend.jobs.fairness). lane: what at most LANE_CAP jobs may work on
    at once, such as the endpoint of a webhook; null for a job that only its tenant's cap limits. deadline_at: when the
    job ends without a result, whatever it waits for; null for never. outages: how often the job was put back because a
    dependency was away. dependency: what the job waits for, "" if nothing was away at its last attempt. paused_at: a
    paused job stays queued and is never claimed. rank: what its tenant wants first among its own jobs. traceparent: W3C
    trace context of the request that enqueued the job.
    """

    kind = models.CharField(max_length=32, choices=JobKind.choices)
    queue = models.CharField(max_length=32)
    subject_id = models.UUIDField()
    # A video belongs to an app above this one, so no ForeignKey; the library's migration adds the constraint.
    video_id = models.UUIDField(null=True)
    dedupe_key = models.CharField(max_length=200)
    state = models.CharField(max_length=16, choices=JobState.choices, default=JobState.QUEUED)
    priority = models.SmallIntegerField(default=0)
    not_before = models.DateTimeField()
    due = models.BooleanField(default=True)
    fair_tag = models.FloatField(default=0.0)
    rank = models.SmallIntegerField(choices=JobRank.choices, default=JobRank.NORMAL)
    lane = models.UUIDField(null=True)
    attempt = models.PositiveIntegerField(default=0)
    max_attempts = models.PositiveIntegerField(default=5)
    deadline_at = models.DateTimeField(null=True)
    outages = models.PositiveIntegerField(default=0)
    dependency = models.TextField(default="", blank=True)
    paused_at = models.DateTimeField(null=True)
    traceparent = models.TextField(default="", blank=True)
    lease_owner = models.CharField(max_length=100, default="", blank=True)
    lease_token = models.BigIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)
    heartbeat_at = models.DateTimeField(null=True)
    progress_done = models.BigIntegerField(default=0)
    progress_total = models.BigIntegerField(default=0)
    progress_stage = models.CharField(max_length=64, default="", blank=True)
    cancel_requested_at = models.DateTimeField(null=True)
    # Set if the subject changed while the job ran: the job then runs once more.
    rerun_requested = models.BooleanField(default=False)
    error_code = models.CharField(max_length=64, default="", blank=True)
    error_message = models.TextField(default="", blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    completed_at = models.DateTimeField(null=True)

    class Meta(TenantRow.Meta):
        constraints = [models.UniqueConstraint(fields=["tenant", "dedupe_key"], name="job_tenant_dedupe")]
        indexes = [
            models.Index(fields=["queue", "-priority", "fair_tag", "id"], condition=DUE, name="job_next"),
            models.Index(fields=["queue", "fair_tag", "id"], condition=DUE, name="job_next_of_any_priority"),
            models.Index(
                fields=["queue", "kind", "-priority", "fair_tag", "id"], condition=DUE, name="job_next_of_kind"
            ),
            models.Index(fields=["not_before"], condition=WAITING, name="job_waiting"),
            # Without lease_until, so that a renewal of a lease changes no index; few jobs of a class run at once.
            models.Index(fields=["queue"], condition=RUNNING, name="job_running"),
            models.Index(fields=["queue", "deadline_at"], condition=ENDING, name="job_deadline"),
            models.Index(fields=["tenant", "queue", "priority"], condition=RANKED, name="job_ranked"),
            models.Index(fields=["tenant", "queue", "priority", "-fair_tag"], condition=OPEN, name="job_tenant_tag"),
            models.Index(fields=["tenant", "video_id", "kind"], name="job_tenant_video"),
            models.Index(fields=["completed_at"], condition=ENDED, name="job_ended"),
        ]


class JobHistory(TenantRow):
    """A job that ended some time ago (backend.jobs.retention), so that the queue stays small. Divided by month."""

    kind = models.CharField(max_length=32)
    queue = models.CharField(max_length=32)
    subject_id = models.UUIDField()
    video_id = models.UUIDField(null=True)
    dedupe_key = models.CharField(max_length=200)
    state = models.CharField(max_length=16)
    attempt = models.PositiveIntegerField()
    error_code = models.CharField(max_length=64, default="", blank=True)
    error_message = models.TextField(default="", blank=True)
    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    completed_at = models.DateTimeField()

    class Meta(TenantRow.Meta):
        indexes = [models.Index(fields=["tenant", "subject_id"], name="jobhistory_tenant_subject")]


class ClassClock(models.Model):
    """How far the jobs of a class have been served: the highest fair_tag that was claimed. It holds no tenant data."""

    queue = models.CharField(primary_key=True, max_length=32)
    served_tag = models.FloatField(default=0.0)


class LostAttempt(models.Model):
    """An attempt of a class `gpu.*` whose lease ended on a day (UTC) without a word of its worker. No tenant data.

    seconds: from its claim until its lease ended. The claim that takes over writes a row of its own, so that no claim
    waits for another one; rows are kept as the ledger is.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    day = models.DateField(db_index=True)
    seconds = models.DecimalField(max_digits=20, decimal_places=6)

    def __str__(self) -> str:
        return f"{self.day}: {self.seconds} s"


class QueueAge(models.Model):
    """How long the oldest runnable job of a class had waited in a minute (backend.jobs.queue_ages). No tenant data."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    at = models.DateTimeField()
    queue = models.CharField(max_length=32)
    oldest_s = models.FloatField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["at", "queue"], name="queueage_once")]

    def __str__(self) -> str:
        return f"{self.queue} at {self.at}: {self.oldest_s} s"


class BreakerState(models.TextChoices):
    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class Breaker(models.Model):
    """Whether work that needs a dependency of ours may run; a dependency without a row is closed. No tenant data.

    opened_at: when the outage began. probe_at: when one job may try the dependency again. probing_job: the job that
    tries it, in the state half_open. failures: failed tries of this outage. error_code, error_message: of the last one,
    for operators.
    """

    dependency = models.CharField(primary_key=True, max_length=64)
    state = models.CharField(max_length=16, choices=BreakerState.choices, default=BreakerState.CLOSED)
    opened_at = models.DateTimeField(null=True)
    probe_at = models.DateTimeField(null=True)
    probing_job = models.UUIDField(null=True)
    failures = models.PositiveIntegerField(default=0)
    error_code = models.CharField(max_length=64, default="", blank=True)
    error_message = models.TextField(default="", blank=True)

    def __str__(self) -> str:
        return self.dependency
