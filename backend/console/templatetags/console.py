"""Filters of the console's templates for amounts, spans and states."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django import template
from django.contrib.admin.utils import quote
from django.core.paginator import Page
from django.utils.html import format_html
from django.utils.safestring import SafeString

from backend.api.public_ids import encode
from backend.console.words import ago, badge, in_words
from backend.questions.figures.arms import Share
from gpu_workers.engine import clock_text

register = template.Library()
register.filter("badge", badge)
register.filter("words", in_words)


@register.filter
def usd(amount: Any) -> str:
    """Return dollars with as many digits as the amount needs."""
    if amount is None or amount == "":
        return "–"
    value = Decimal(amount)
    sign = "−" if value < 0 else ""
    value = abs(value)
    digits = 2 if value >= 1 or value == 0 else 4 if value >= Decimal("0.001") else 7
    return f"{sign}${value:,.{digits}f}"


@register.filter
def span(ms: Any) -> str:
    """Return milliseconds in the unit that people would use."""
    if ms is None or ms == "":
        return "–"
    ms = float(ms)
    if ms < 1_000:
        return f"{ms:.0f} ms"
    if ms < 120_000:
        return f"{ms / 1_000:.1f} s"
    if ms < 7_200_000:
        return f"{ms / 60_000:.1f} min"
    return f"{ms / 3_600_000:.1f} h" if ms < 360_000_000 else f"{ms / 3_600_000:,.0f} h"


@register.filter
def seconds(number: Any) -> str:
    """Return seconds in the unit that people would use."""
    return span(None if number is None else float(number) * 1_000)


LONG_WAIT_S, TOO_LONG_WAIT_S = 60, 300
"""Waits of the oldest due job from which on the console shows them as busy, and as a fault."""


@register.filter
def waited(number: Any) -> SafeString | str:
    """Return how many seconds the oldest due job has waited, in a colour if that is long."""
    if number is None or float(number) < LONG_WAIT_S:
        return seconds(number)
    colour = "c-bad" if float(number) >= TOO_LONG_WAIT_S else "c-busy"
    return format_html('<span class="c-badge {}">{}</span>', colour, seconds(number))


register.filter("quoted", quote)


@register.filter
def moment(at: Any) -> SafeString:
    """Return a moment to the minute, with its zone."""
    return _time(at, "%Y-%m-%d %H:%M UTC")


@register.filter
def instant(at: Any) -> SafeString:
    """Return a moment to the second, with its zone."""
    return _time(at, "%Y-%m-%d %H:%M:%S UTC")


@register.filter
def day(at: datetime | None) -> SafeString:
    """Return the day of a moment (UTC), "" for none."""
    return _time(at, "%Y-%m-%d") if at else SafeString("")


@register.filter
def since(at: datetime | None) -> SafeString:
    """Return the time since a moment, with the moment as a title."""
    if at is None:
        return SafeString("–")
    exact = f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S UTC}"
    return format_html('<time datetime="{}" title="{}">{} ago</time>', at.isoformat(timespec="seconds"), exact, ago(at))


def _time(at: datetime | None, form: str) -> SafeString:
    if not at:
        return SafeString("–")
    moment = at.astimezone(UTC)
    return format_html('<time datetime="{}">{}</time>', moment.isoformat(timespec="seconds"), f"{moment:{form}}")


@register.filter
def named(id: Any, prefix: str) -> str:
    """Return a public id, as customers write it. id: a UUID or its text. prefix: of the kind of row, such as vid."""
    return encode(prefix, UUID(str(id)))


@register.filter
def clock(ms: Any) -> str:
    """Return a position in a video as h:mm:ss."""
    return clock_text.clock(int(ms), hours=True)


@register.filter
def count(number: Any) -> str:
    return "–" if number is None or number == "" else f"{Decimal(number):,.0f}"


@register.filter
def score(number: Any) -> str:
    return "–" if number is None else f"{float(number):.2f}"


@register.filter
def share(of: Share) -> str:
    """Return a share with its 95 % interval, such as "66.7 % (20.8 to 93.9)"."""
    if of.value is None:
        return "–"
    return f"{100 * of.value:.1f} % ({100 * of.low:.1f} to {100 * of.high:.1f})"


@register.filter
def points(difference: float) -> str:
    """Return a difference of two shares in percentage points, with its sign."""
    return f"{100 * difference:+.1f}".replace("-", "−")


@register.filter
def letter(index: Any) -> str:
    """Return the letter of a choice: A for the first."""
    return chr(65 + int(index))


@register.inclusion_tag("console/_branch.html")
def branch(node: Any) -> dict[str, Any]:
    """Render one node of the search tree with its child nodes."""
    return {"branch": node}


@register.inclusion_tag("console/_pager.html", takes_context=True)
def pager(context: Any, page: Page[Any], parameter: str, label: str) -> dict[str, Any]:
    """Render the links to the pages of a list within a page. label: of the list. parameter: as paged() takes it."""

    def link(number: int | str) -> str:
        query = context["request"].GET.copy()
        query[parameter] = str(number)
        return f"?{query.urlencode()}#{parameter}" if isinstance(number, int) else ""

    numbers = page.paginator.get_elided_page_range(page.number)
    return {"page": page, "label": label, "links": [(number, link(number)) for number in numbers]}


@register.filter
def amount(value: Any, currency: str) -> str:
    """Return an amount with the code of its currency and as many digits as it needs; dollars as usd() does."""
    text = usd(value)
    return text if currency == "USD" or value is None else f"{text.replace('$', '')} {currency}"
