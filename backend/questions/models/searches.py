"""Searches: retrievals without an answer."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db import models

from backend.billing.charges import Charge
from backend.library.models import Video
from backend.questions.models.limits import about
from backend.questions.models.outcomes import QuestionStatus
from backend.tenancy.models import TenantRow


class Search(TenantRow):
    """A retrieval without an answer: the events nearest to a query, ranked, or in mode "objects" the tracked objects. A
    worker embeds the query and retrieves.

    settings: {mode, views (with weights), fusion, limit, min_score (null for the usual), api_key_id, person_id,
    collection_id} of the request. results: [{video_id, event_id, n, start_ms, end_ms, summary, score, frame_ms,
    frame_key, reasons: [{view, similarity, text, item}], highlights: [{kind, text, ranges, start_ms, end_ms, item}],
    moments: [{view, start_ms, end_ms, score, text, item}]}], or in mode "objects" [{video_id, object_id, n, category,
    colour, start_ms, end_ms, score, frame_ms, frame_key}]. scoring: {calibrated, min_score, left_out, best_left_out,
    readable, kept, compared_by}. degraded: codes of what the search had to do without.
    """

    status = models.CharField(max_length=16, choices=QuestionStatus.choices, default=QuestionStatus.QUEUED)
    text = models.TextField(max_length=4_000)
    start_ms = models.BigIntegerField(null=True)
    end_ms = models.BigIntegerField(null=True)
    settings = models.JSONField(default=dict)
    results = models.JSONField(default=list)
    scoring = models.JSONField(default=dict)
    degraded = models.JSONField(default=list)
    usage = models.JSONField(default=dict)
    charge_amount = models.DecimalField(max_digits=20, decimal_places=10, default=0)
    charge_currency = models.CharField(max_length=3, default="USD")
    price_version = models.PositiveIntegerField(null=True)
    timings = models.JSONField(default=dict)
    error_code = models.CharField(max_length=64, default="", blank=True)
    error_message = models.TextField(default="", blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    completed_at = models.DateTimeField(null=True)

    class Meta(TenantRow.Meta):
        verbose_name_plural = "searches"
        indexes = [
            models.Index(fields=["tenant", "-id"], name="search_tenant_newest"),
            models.Index(fields=["tenant", "status", "-id"], name="search_tenant_status"),
        ]

    @property
    def charge(self) -> Charge:
        """Return what the search is charged."""
        return Charge(self.charge_amount, self.charge_currency, self.price_version)

    @classmethod
    def within(cls, collections: Sequence[UUID]) -> models.Q:
        """Return the condition on the rows that a member limited to these collections sees."""
        return about(SearchVideo, "search_id", collections)


class SearchVideo(TenantRow):
    """One video of a search's scope, with the index version that was read (set when work starts)."""

    search = models.ForeignKey(
        Search, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    video = models.ForeignKey(Video, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+")
    index_version = models.PositiveIntegerField(null=True)
    indexed_until_ms = models.BigIntegerField(null=True)

    class Meta(TenantRow.Meta):
        constraints = [models.UniqueConstraint(fields=["tenant", "search", "video"], name="search_video_once")]
        indexes = [models.Index(fields=["tenant", "video"], name="search_video_by_video")]
