"""What must hold of invoices: their sums, their numbers, and credit."""

from __future__ import annotations

from decimal import Decimal

from django.db import connections

from backend.billing.invariants.ledger import found
from backend.billing.invariants.registry import invariant
from backend.billing.models import CreditGrant
from backend.billing.rates import plain
from backend.billing.services.credit.credit_grants import credits

_SUMS = """
SELECT coalesce(nullif(i.number, ''), i.id::text) || ': its lines come to ' || coalesce(sum(l.amount), 0)
    || ' and its total is ' || i.total
FROM billing_invoice i LEFT JOIN billing_invoiceline l ON l.tenant_id = i.tenant_id AND l.invoice_id = i.id
WHERE i.tenant_id = %(tenant)s GROUP BY i.tenant_id, i.id
HAVING coalesce(sum(l.amount), 0) <> i.subtotal + i.discount OR i.total <> i.subtotal + i.discount + i.tax
"""


@invariant("invoice_equals_its_lines")
def invoice_equals_its_lines() -> list[str]:
    """The lines of a document add up to its total before tax."""
    return found(_SUMS)


_GAPS = """
SELECT s.entity_id || ' ' || s.kind || ': ' || count(n.sequence) || ' numbers up to ' || coalesce(max(n.sequence), 0)
    || ', and the last one given is ' || s.last
FROM billing_invoiceseries s LEFT JOIN billing_invoicenumber n ON n.entity_id = s.entity_id AND n.kind = s.kind
GROUP BY s.entity_id, s.kind, s.last HAVING count(n.sequence) <> s.last OR coalesce(max(n.sequence), 0) <> s.last
"""


@invariant("invoice_numbers_without_gap", of_service=True)
def invoice_numbers_without_gap() -> list[str]:
    """The numbers of a series are 1 to the last one."""
    with connections["default"].cursor() as cursor:
        cursor.execute(_GAPS)
        return [text for (text,) in cursor.fetchall()]


_UNKNOWN = """
SELECT i.number || ': its number is not recorded for it' FROM billing_invoice i
LEFT JOIN billing_invoicenumber n ON n.invoice_id = i.id AND n.kind = i.kind AND n.sequence = i.sequence
    AND n.entity_id = i.entity_id
WHERE i.tenant_id = %(tenant)s AND i.state <> 'draft' AND n.id IS NULL
"""


@invariant("invoice_number_is_recorded")
def invoice_number_is_recorded() -> list[str]:
    """Each document that is no draft has the number that was given to it."""
    return found(_UNKNOWN)


@invariant("credit_is_not_overspent")
def credit_is_not_overspent() -> list[str]:
    """No grant is used for more than its amount, or for less than nothing."""
    return [
        f"credit {credit.grant.id}: {plain(credit.used)} of {plain(credit.grant.amount)} is used"
        for credit in credits(list(CreditGrant.objects.all()))
        if not Decimal(0) <= credit.used <= credit.grant.amount
    ]


_CREDITED = """
SELECT i.number || ': ' || i.credited || ' is paid by credit, and its grants gave ' || coalesce(sum(u.amount), 0)
FROM billing_invoice i LEFT JOIN billing_credituse u ON u.tenant_id = i.tenant_id AND u.invoice_id = i.id
WHERE i.tenant_id = %(tenant)s AND i.kind = 'invoice' AND i.total > 0
GROUP BY i.tenant_id, i.id HAVING coalesce(sum(u.amount), 0) <> CASE WHEN i.state = 'void' THEN 0 ELSE i.credited END
"""


@invariant("invoice_equals_credit_used")
def invoice_equals_credit_used() -> list[str]:
    """What credit paid of an invoice is what the grants gave; nothing of a void invoice."""
    return found(_CREDITED)
