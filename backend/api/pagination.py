"""Cursor pages: the cursor holds the last row of a page, so rows added or removed meanwhile shift nothing."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db.models import Q, QuerySet
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from backend.tenancy.refusals import Refused, invalid

DEFAULT_LIMIT = 20
MAX_LIMIT = 100
NEWEST_FIRST = ("-id",)

PAGE_PARAMETERS = [
    OpenApiParameter(
        "limit",
        {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT},
        description="Largest number of rows of the page.",
    ),
    OpenApiParameter("cursor", str, description="`next_cursor` of the previous page; without it the first page."),
]


def page(
    request: Request,
    queryset: QuerySet[Any],
    *,
    serialize: Callable[[Any], Any] | None = None,
    serialize_many: Callable[[list[Any]], Sequence[Any]] | None = None,
    order: Sequence[str] | None = None,
) -> Response:
    """Return one page as {data, next_cursor}; next_cursor is null on the last page.

    order: fields that together are unique, all ascending or all descending (`-`); newest first if None. Exactly one of
    serialize (a row) and serialize_many (the rows of the page, for lookups in bulk) is given. Raises Refused
    `invalid_cursor` or `out_of_range` (both 400).
    """
    order = order or NEWEST_FIRST
    fields = [name.removeprefix("-") for name in order]
    descending = order[0].startswith("-")
    if any(name.startswith("-") != descending for name in order):
        raise ValueError("a page is ordered in one direction")
    limit = _limit(request)
    rows = queryset.order_by(*order)
    list_name = _list_name(request, order)
    cursor = request.query_params.get("cursor")
    if cursor:
        values = _decode(queryset, fields, cursor, list_name)
        rows = rows.filter(_after(fields, values, "lt" if descending else "gt"))
    fetched = list(rows[: limit + 1])
    shown = fetched[:limit]
    if serialize_many is not None:
        data = list(serialize_many(shown))
    elif serialize is not None:
        data = [serialize(row) for row in shown]
    else:
        raise ValueError("a page needs serialize or serialize_many")
    next_cursor = _encode(list_name, fields, shown[-1]) if len(fetched) > limit else None
    return Response({"data": data, "next_cursor": next_cursor})


_SUMS = "sums"
_MOST_OFFSET = 1_000_000


def offset_page(request: Request) -> tuple[int, int]:
    """Return offset and limit of a page of sums, which are no rows that a cursor could name. Raises like page()."""
    cursor = request.query_params.get("cursor")
    offset = 0
    if cursor:
        try:
            name, offset = json.loads(
                base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
            )
        except (binascii.Error, ValueError, RecursionError, TypeError):
            raise _refused_cursor() from None
        if name != _SUMS or type(offset) is not int or not 0 <= offset <= _MOST_OFFSET:
            raise _refused_cursor()
    return offset, _limit(request)


def offset_cursor(offset: int) -> str:
    """Return the cursor of the page of sums that begins at offset."""
    return base64.urlsafe_b64encode(json.dumps([_SUMS, offset]).encode()).decode().rstrip("=")


def _refused_cursor() -> Refused:
    return invalid(
        pointer="/cursor", code="invalid_cursor", detail="Send next_cursor of the previous page of this list."
    )


def _limit(request: Request) -> int:
    text = request.query_params.get("limit", str(DEFAULT_LIMIT))
    # At most three digits, so the number that is checked is the number that is used.
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= len(str(MAX_LIMIT)) else 0
    if not 1 <= number <= MAX_LIMIT:
        raise invalid(pointer="/limit", code="out_of_range", detail=f"limit is a whole number from 1 to {MAX_LIMIT}.")
    return number


def _after(fields: Sequence[str], values: Sequence[Any], operator: str) -> Q:
    """Return the filter for rows after `values` in the order of `fields`: (a > x) or (a = x and b > y) …"""
    condition = Q()
    for index, field in enumerate(fields):
        equal = dict(zip(fields[:index], values[:index], strict=True))
        condition |= Q(**equal, **{f"{field}__{operator}": values[index]})
    return condition


def _list_name(request: Request, order: Sequence[str]) -> str:
    """Return the name of a list and of its order. A cursor holds it, so that no other list and no other order takes
    the cursor."""
    return blake2b(f"{request.path} {','.join(order)}".encode(), digest_size=6).hexdigest()


def _encode(list_name: str, fields: Sequence[str], row: Any) -> str:
    values = [str(value) if isinstance(value := getattr(row, name), UUID) else value for name in fields]
    return base64.urlsafe_b64encode(json.dumps([list_name, *values]).encode()).decode().rstrip("=")


def _decode(queryset: QuerySet[Any], fields: Sequence[str], cursor: str, list_name: str) -> list[Any]:
    refused = _refused_cursor()
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        parts = json.loads(raw)
        if not isinstance(parts, list) or len(parts) != len(fields) + 1 or parts[0] != list_name:
            raise refused
        columns = [queryset.model._meta.get_field(name) for name in fields]
        values = [column.to_python(value) for column, value in zip(columns, parts[1:], strict=True)]
    except (binascii.Error, ValueError, RecursionError, ValidationError, TypeError, OverflowError):
        raise refused from None
    bigint = 2**63
    if any(value is None or (isinstance(value, int) and not -bigint <= value < bigint) for value in values):
        raise refused
    return values
