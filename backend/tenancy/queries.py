"""Reads of API keys, inside the open tenant_scope."""

from __future__ import annotations

from django.db.models import QuerySet

from backend.tenancy.models import ApiKey


def api_keys() -> QuerySet[ApiKey]:
    rows: QuerySet[ApiKey] = ApiKey.objects.all()
    return rows
