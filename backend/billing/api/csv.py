"""Usage as CSV (RFC 4180), written a page at a time so that a reply of any length takes little memory."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.http import StreamingHttpResponse
from rest_framework.renderers import BaseRenderer, JSONRenderer

from backend.billing import queries
from backend.billing.bodies.usage import UsageEventSerializer, UsageLineSerializer
from backend.billing.queries.usage import Usage
from backend.tenancy.context import tenant_scope

MOST_LINES = 50_000
PAGE = 1_000
# A spreadsheet runs a cell that begins with one of these as a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class CsvRenderer(BaseRenderer):
    """Lets a client ask for CSV; the view writes the rows itself."""

    media_type = "text/csv"
    format = "csv"
    charset = "utf-8"

    def render(self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None) -> bytes:
        # Only a problem is rendered here: the reply was refused before it began.
        return JSONRenderer().render(data)


def rows_response(name: str, pages: Iterator[Sequence[Sequence[Any]]]) -> StreamingHttpResponse:
    """Return a reply of rows, the first one with the names of the columns. name: of the file that browsers store."""
    response = StreamingHttpResponse((_text(rows) for rows in pages), content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    response.headers["Cache-Control"] = "no-store"
    return response


def usage_rows(usage: Usage) -> list[list[Any]]:
    """Return the lines of usage with a row of names before them."""
    head = [*usage.group_by, *(name for name in ("meter",) if name not in usage.group_by)]
    rows: list[list[Any]] = [[*head, "quantity", "events", "charge", "currency"]]
    for line in UsageLineSerializer(usage.lines, many=True).data:
        values = {"meter": line["meter"], **line["group"]}
        charge = line["charge"]
        rows.append([*(values[name] for name in head), line["quantity"], line["events"], *_money(charge)])
    return rows


def event_pages(tenant_id: UUID, query: Mapping[str, Any]) -> Iterator[list[list[Any]]]:
    """Yield the ledger rows of a query, newest first, a page in a transaction of its own."""
    names = [name for name in UsageEventSerializer.Meta.fields if name not in ("object", "charge")]
    yield [[*names, "charge", "currency", "price_version"]]
    last: Any = None
    while True:
        with tenant_scope(tenant_id):
            rows = queries.events(**query).order_by("-occurred_at", "-id")
            if last is not None:
                same = Q(occurred_at=last.occurred_at, id__lt=last.id)
                rows = rows.filter(Q(occurred_at__lt=last.occurred_at) | same)
            shown = list(rows[:PAGE])
            bodies = UsageEventSerializer(shown, many=True).data
        if bodies:
            yield [[*(body[name] for name in names), *_money(body["charge"], version=True)] for body in bodies]
        if len(shown) < PAGE:
            return
        last = shown[-1]


def _money(charge: Mapping[str, Any], *, version: bool = False) -> list[Any]:
    return [charge["amount"], charge["currency"], *([charge["price_version"]] if version else [])]


def _text(rows: Iterable[Sequence[Any]]) -> bytes:
    out = io.StringIO()
    csv.writer(out).writerows([_cell(value) for value in row] for row in rows)
    return out.getvalue().encode()


def _cell(value: Any) -> Any:
    if isinstance(value, str) and value.startswith(_FORMULA) and not _is_number(value):
        return f"'{value}"
    return value


def _is_number(text: str) -> bool:
    return text.lstrip("-").replace(".", "", 1).isdigit()
