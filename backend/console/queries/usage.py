"""Reads of the usage ledger for the pages of a video and of a question."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from backend.console.queries.role import rows
from backend.library.models import Video
from backend.questions.models import Question


def usage_by_stage(row: Question | Video) -> list[dict[str, Any]]:
    """Return the cost of one question or video per stage, model and currency of prices."""
    column = "video_id" if isinstance(row, Video) else "question_id"
    return rows(
        "SELECT stage, model, billable, reason, price_currency, sum(cost_amount) AS cost, sum(price_amount) AS price, "  # noqa: S608
        "coalesce(sum(quantity) FILTER (WHERE meter = 'device_seconds'), 0) AS device_seconds, "
        "coalesce(sum(quantity) FILTER (WHERE meter IN ('input_tokens', 'cached_tokens')), 0) AS tokens_in, "
        "coalesce(sum(quantity) FILTER (WHERE meter = 'output_tokens'), 0) AS tokens_out, "
        "coalesce(sum(quantity) FILTER (WHERE meter IN ('media_seconds', 'questions')), 0) AS units "
        f"FROM billing_usageevent WHERE tenant_id = %(tenant)s AND {column} = %(id)s "
        "GROUP BY 1, 2, 3, 4, 5 ORDER BY cost DESC, stage",
        {"tenant": row.tenant_id, "id": row.id},
    )


def prices_of(lines: Sequence[dict[str, Any]]) -> list[tuple[str, Decimal]]:
    """Return the sums of the list prices by currency; currencies without an amount only if there is no other."""
    sums: dict[str, Decimal] = {}
    for line in lines:
        sums[line["price_currency"]] = sums.get(line["price_currency"], Decimal(0)) + line["price"]
    return sorted((code, price) for code, price in sums.items() if price) or sorted(sums.items())[:1]
