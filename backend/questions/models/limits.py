"""What a member who is limited to collections sees of questions: only those asked about videos of these alone."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from backend.tenancy.models import TenantRow


def about(links: type[TenantRow], owner: str, collections: Sequence[UUID]) -> Q:
    """Return the condition on rows that have videos, all of them in the collections.

    links: the table of rows and their videos. owner: its column that names the row, such as "question_id".
    """
    linked = links.unscoped.filter(**{owner: OuterRef("pk"), "tenant_id": OuterRef("tenant_id")})
    return Q(Exists(linked)) & ~Q(Exists(linked.exclude(video__collection_id__in=collections)))


def without_others(questions: type[TenantRow], owner: str, collections: Sequence[UUID]) -> Q:
    """Return the condition on groups of questions in which no question lies outside the collections."""
    grouped = questions.unscoped.filter(**{owner: OuterRef("pk"), "tenant_id": OuterRef("tenant_id")})
    seen = questions.within(collections)
    return Q() if seen is None else ~Q(Exists(grouped.exclude(seen)))
