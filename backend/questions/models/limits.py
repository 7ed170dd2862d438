"""What a member who is limited to collections sees of questions: only those asked about videos of these alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db.models import BooleanField, Exists, OuterRef, Q
from django.db.models.expressions import RawSQL

from backend.tenancy.models import TenantRow


def about(links: type[Any], owner: str, collections: Sequence[UUID]) -> Q:
    """Return the condition on rows that have videos, all of them in the collections.

    links: the table of rows and their videos. owner: its column that names the row, such as "question_id".
    """
    linked = links.unscoped.filter(**{owner: OuterRef("pk"), "tenant_id": OuterRef("tenant_id")})
    return Q(Exists(linked)) & ~Q(Exists(linked.exclude(video__collection_id__in=collections)))


def without_others(questions: type[TenantRow], owner: str, collections: Sequence[UUID]) -> Q:
    """Return the condition on groups of questions in which no question lies outside the collections."""
    grouped = questions.unscoped.filter(**{owner: OuterRef("pk"), "tenant_id": OuterRef("tenant_id")})
    return ~Q(Exists(grouped.exclude(questions.within(collections))))


def with_some(questions: type[TenantRow], owner: str) -> Q:
    """Return the condition on groups of questions that hold a question: an empty group has no scope to judge by."""
    return Q(Exists(questions.unscoped.filter(**{owner: OuterRef("pk"), "tenant_id": OuterRef("tenant_id")})))


_NAMES_ALLOWED_VIDEOS = """(questions_session.scope ->> 'collection_id' = ANY(%s) OR (
    jsonb_array_length(coalesce(questions_session.scope -> 'video_ids', '[]')) > 0
    AND NOT EXISTS (
        SELECT FROM jsonb_array_elements_text(questions_session.scope -> 'video_ids') named
        LEFT JOIN library_video video ON video.tenant_id = questions_session.tenant_id AND video.id = named::uuid
            AND video.collection_id = ANY(%s::uuid[])
        WHERE video.id IS NULL
    )
))"""


def about_scope(collections: Sequence[UUID]) -> Q:
    """Return the condition on sessions whose stored scope lies in the collections, also before their first question.

    A scope of videos lies there if each of its videos does now.
    """
    names = [str(one) for one in collections]
    return Q(RawSQL(_NAMES_ALLOWED_VIDEOS, [names, names], output_field=BooleanField()))  # noqa: S611
