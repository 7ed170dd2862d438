"""An invoice as CSV: one row a line, exact amounts, the same columns for each document."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from backend.billing.models import Invoice, InvoiceLine
from backend.billing.rates import plain

COLUMNS = (
    "number", "kind", "state", "period_start", "period_end", "currency", "line", "line_kind", "meter", "variant",
    "price_version", "unit_amount", "quantity", "exact_amount", "amount", "late", "usage_start", "description",
)  # fmt: skip
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")


def as_csv(invoice: Invoice, lines: Iterable[InvoiceLine]) -> str:
    """Return a document as CSV (RFC 4180). Its tax is the last row; the amounts of all rows add up to the total."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    head = [
        invoice.number,
        invoice.kind,
        invoice.state,
        invoice.period_start.isoformat(),
        invoice.period_end.isoformat(),
        invoice.currency,
    ]
    last = 0
    for line in lines:
        last = line.ordinal
        writer.writerow(
            [
                *head,
                line.ordinal,
                line.kind,
                line.meter,
                _cell(line.variant),
                "" if line.price_version is None else line.price_version,
                "" if line.unit_amount is None else plain(line.unit_amount),
                plain(line.quantity),
                plain(line.exact_amount),
                plain(line.amount),
                str(line.late).lower(),
                "" if line.usage_start is None else line.usage_start.isoformat(),
                _cell(line.description),
            ]
        )
    tax = [last + 1, "tax", "", "", "", plain(invoice.tax_rate), "", plain(invoice.tax), plain(invoice.tax)]
    writer.writerow([*head, *tax, "false", "", ""])
    return out.getvalue()


def _cell(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(_FORMULAS) else text
