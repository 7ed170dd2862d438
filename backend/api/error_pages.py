"""/errors: what each code means, by docs/errors.md. The `type` of a problem leads to its code on this page."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import URLPattern, path
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_safe

DOCUMENT = Path(__file__).parents[2] / "docs" / "errors.md"
_CODE = re.compile(r"`([a-z_]+)`")
_QUOTED = re.compile(r"`([^`]+)`")


@transaction.non_atomic_requests
@require_safe
def errors(request: HttpRequest) -> HttpResponse:
    """Show the tables of error codes, with an anchor for each code."""
    return render(request, "api/errors.html", {"tables": _tables()})


@cache
def _tables() -> SafeString:
    parts: list[SafeString] = []
    rows: list[SafeString] = []
    seen: set[str] = set()
    for line in [*DOCUMENT.read_text().splitlines(), ""]:
        if line.startswith("| "):
            rows += _row([cell.strip() for cell in line.strip("| ").split(" | ")], seen)
            continue
        if rows:
            parts.append(format_html("<table>{}</table>", mark_safe("".join(rows))))  # noqa: S308  # escaped above
            rows = []
        if line.startswith("## "):
            parts.append(format_html("<h2>{}</h2>", _words(line.removeprefix("## "))))
    return mark_safe("".join(parts))  # noqa: S308  # escaped above


def _row(cells: list[str], seen: set[str]) -> list[SafeString]:
    """Return a row of a table, with its code as the anchor where the code is met first; nothing for the rule."""
    if set(cells[0]) == {"-"}:
        return []
    code = _CODE.fullmatch(cells[0])
    anchor = code[1] if code is not None and code[1] not in seen else ""
    seen.add(anchor)
    columns = format_html_join("", "<td>{}</td>" if code else "<th>{}</th>", ((_words(cell),) for cell in cells))
    return [format_html('<tr id="{}">{}</tr>', anchor, columns) if anchor else format_html("<tr>{}</tr>", columns)]


def _words(text: str) -> SafeString:
    """Return a text with its codes marked, everything else escaped."""
    pieces = _QUOTED.split(text)
    marked = ("<code>{}</code>" if index % 2 else "{}" for index in range(len(pieces)))
    return mark_safe("".join(format_html(form, piece) for form, piece in zip(marked, pieces, strict=True)))  # noqa: S308


urlpatterns: list[URLPattern] = [path("errors", errors)]
