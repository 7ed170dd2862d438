"""The reply with which a printed document is downloaded."""

from __future__ import annotations

from django.http import HttpResponse

from backend.billing.models import Invoice


def file_of(content: str | bytes, invoice: Invoice, kind: str, content_type: str) -> HttpResponse:
    """Return a document as a file that is named by its number. kind: the end of the name, csv or pdf."""
    name = invoice.number or f"draft-{invoice.period_start:%Y-%m}"
    headers = {"Cache-Control": "no-store", "Content-Disposition": f'attachment; filename="{name}.{kind}"'}
    return HttpResponse(content, content_type=content_type, headers=headers)
