"""Numbers of documents, without gaps."""

from __future__ import annotations

from uuid import UUID

from django.db import connection

from backend.billing.models import InvoiceKind, InvoiceNumber, LegalEntity

_NEXT = """
INSERT INTO billing_invoiceseries AS series (entity_id, kind, last) VALUES (%s, %s, 1)
ON CONFLICT (entity_id, kind) DO UPDATE SET last = series.last + 1 RETURNING last
"""


def next_number(*, entity: LegalEntity, kind: str, invoice_id: UUID) -> tuple[int, str]:
    """Return the next sequence of the entity's series for a kind of document, and the number that is printed.

    The series is locked until the caller's transaction ends. If that fails, the number is given to the next document.
    Call this last in a transaction.
    """
    with connection.cursor() as cursor:
        cursor.execute(_NEXT, [entity.code, kind])
        sequence = int(cursor.fetchone()[0])
    InvoiceNumber.objects.create(entity=entity, kind=kind, sequence=sequence, invoice_id=invoice_id)
    prefix = entity.credit_note_prefix if kind == InvoiceKind.CREDIT_NOTE else entity.invoice_prefix
    return sequence, f"{prefix}{sequence:06d}"
