"""Transfers of one tenant's usage and invoices to a billing system, and the comparison of both sides.

A cursor in ExportState moves after each batch. Rows that were recorded shortly before it are sent again, because their
transaction may have ended after the cursor passed; the system recognises them by their ids. No transaction is open
while the system is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import UUID

from django.conf import settings
from django.db.models import Q, Sum
from django.utils import timezone

from backend.api.public_ids import encode
from backend.billing.currencies import minor_unit
from backend.billing.documents.words import Words
from backend.billing.exports.lago import Lago
from backend.billing.exports.openmeter import OpenMeter
from backend.billing.exports.sinks import Client, ExportedCreditNote, ExportedInvoice, ExportedLine, MeterEvent, Sink
from backend.billing.exports.stripe import Stripe
from backend.billing.models import CreditGrant, ExportState, Invoice, InvoiceKind, InvoiceLine, InvoiceState, UsageEvent
from backend.tenancy.context import tenant_scope
from backend.tenancy.models import Tenant

METERS = ("media_seconds", "live_seconds", "questions", "searches", "comparisons", "storage_gb_hours", "egress_gb")
"""Meters that are exported: those that customers pay."""
USAGE, CUSTOMER = "usage", "customer"
OVERLAP = timedelta(minutes=10)
"""Longest time between a row's recorded_at and its commit; a transaction that writes the ledger is shorter."""
SETTLE = timedelta(minutes=1)
AT_ONCE = 500
COMPARED_DAYS = 2
_SINKS: dict[str, Callable[[Client], Sink]] = {"stripe": Stripe, "lago": Lago, "openmeter": OpenMeter}


@dataclass(frozen=True, slots=True)
class Difference:
    """A meter of one UTC day of which a billing system has another quantity than the ledger."""

    day: datetime
    meter: str
    ours: Decimal
    theirs: Decimal


def configured_sink() -> Sink | None:
    """Return the billing system of the settings, None if there is none. Raises KeyError for an unknown name."""
    if not settings.BILLING_SINK:
        return None
    return _SINKS[settings.BILLING_SINK](Client(settings.BILLING_SINK_URL, settings.BILLING_SINK_KEY))


def export_usage(tenant_id: UUID, sink: Sink, *, now: datetime | None = None) -> int:
    """Send the billable usage that is new since the last export. Returns the number of events, repeated ones included.

    Usage that is older than the system takes is counted as skipped. Raises ExportFailed; what was sent before it stays.
    """
    at, sent = now or timezone.now(), 0
    customer = _customer(tenant_id, sink)
    since, last = _begin(tenant_id, sink, at), None
    while True:
        with tenant_scope(tenant_id):
            rows = _rows(since, last, at - SETTLE)
        if not rows:
            break
        fresh = [row for row in rows if sink.oldest is None or row.occurred_at > at - sink.oldest]
        for start in range(0, len(fresh), sink.batch):
            sink.send(customer, [_event(row) for row in fresh[start : start + sink.batch]])
        sent += len(fresh)
        last = (rows[-1].recorded_at, rows[-1].id)
        with tenant_scope(tenant_id):
            state = _state(tenant_id, sink, USAGE)
            # A row in the overlap was counted by the export before.
            state.skipped += sum(
                row not in fresh and (state.exported_until is None or row.recorded_at > state.exported_until)
                for row in rows
            )
            state.exported_until = max(state.exported_until or last[0], last[0])
            state.last_error = ""
            state.save()
    return sent


def export_invoices(tenant_id: UUID, sink: Sink) -> int:
    """Send the numbered invoices that have not been sent. Returns their number. Raises ExportFailed."""
    customer = _customer(tenant_id, sink)
    with tenant_scope(tenant_id):
        done = set(ExportState.objects.filter(sink=sink.name).values_list("subject", flat=True))
        invoices = [
            invoice
            for invoice in Invoice.objects.filter(kind=InvoiceKind.INVOICE, state__in=_NUMBERED).order_by("sequence")
            if f"invoice:{invoice.id}" not in done
        ]
    for invoice in invoices:
        with tenant_scope(tenant_id):
            body = _invoice(invoice)
        external = sink.send_invoice(customer, body)
        with tenant_scope(tenant_id):
            ExportState.objects.get_or_create(
                tenant_id=tenant_id,
                sink=sink.name,
                subject=f"invoice:{invoice.id}",
                defaults={"external_id": external},
            )
    return len(invoices)


def export_credit_notes(tenant_id: UUID, sink: Sink) -> int:
    """Send the credit notes that have not been sent, of invoices that the system has. Returns their number.

    A system that makes its own invoices gets none, since it has no invoice of ours to correct. Raises ExportFailed.
    """
    with tenant_scope(tenant_id):
        sent = dict(ExportState.objects.filter(sink=sink.name).values_list("subject", "external_id"))
        notes = [
            _credit_note(note, sent[f"invoice:{note.corrects_id}"])
            for note in Invoice.objects.filter(kind=InvoiceKind.CREDIT_NOTE, state__in=_NUMBERED).order_by("sequence")
            if f"credit_note:{note.id}" not in sent and sent.get(f"invoice:{note.corrects_id}")
        ]
    for note in notes:
        external = sink.send_credit_note(note)
        with tenant_scope(tenant_id):
            ExportState.objects.get_or_create(
                tenant_id=tenant_id,
                sink=sink.name,
                subject=f"credit_note:{note.id}",
                defaults={"external_id": external},
            )
    return len(notes)


def reconcile(tenant_id: UUID, sink: Sink, *, now: datetime | None = None) -> list[Difference]:
    """Compare each meter of the last whole UTC days with the billing system. Raises ExportFailed."""
    today = (now or timezone.now()).astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    customer, differences = _customer(tenant_id, sink), []
    for n in range(COMPARED_DAYS, 0, -1):
        start, end = today - timedelta(days=n), today - timedelta(days=n - 1)
        with tenant_scope(tenant_id):
            rows = UsageEvent.objects.filter(_EXPORTED, occurred_at__gte=start, occurred_at__lt=end)
            ours = {row["meter"]: row["sum"] for row in rows.values("meter").annotate(sum=Sum("quantity"))}
        for meter, quantity in sorted(ours.items()):
            theirs = sink.total(customer, meter, start, end)
            if theirs != quantity:
                differences.append(Difference(start, meter, quantity, theirs))
    return differences


_NUMBERED = (InvoiceState.FINAL, InvoiceState.PAID)
_EXPORTED = Q(meter__in=METERS, billable=True)


def _begin(tenant_id: UUID, sink: Sink, at: datetime) -> datetime | None:
    with tenant_scope(tenant_id):
        state = _state(tenant_id, sink, USAGE)
    if state.exported_until is None:
        return None
    # After a long outage the system would no longer recognise what it has: reconcile() shows what was lost.
    forgotten = sink.remembers is not None and at - state.updated_at > sink.remembers - timedelta(hours=1)
    return state.exported_until if forgotten else state.exported_until - OVERLAP


def _rows(since: datetime | None, last: tuple[datetime, UUID] | None, until: datetime) -> list[UsageEvent]:
    rows = UsageEvent.objects.filter(_EXPORTED, recorded_at__lt=until)
    if last is not None:
        rows = rows.filter(Q(recorded_at__gt=last[0]) | Q(recorded_at=last[0], id__gt=last[1]))
    elif since is not None:
        rows = rows.filter(recorded_at__gt=since)
    return list(rows.order_by("recorded_at", "id")[:AT_ONCE])


def _event(row: UsageEvent) -> MeterEvent:
    return MeterEvent(str(row.id), row.meter, row.quantity, row.occurred_at)


def _invoice(invoice: Invoice) -> ExportedInvoice:
    unit, words = minor_unit(invoice.currency), Words(invoice)
    lines = [
        ExportedLine(str(line.id), words.line(line), int(line.amount / unit))
        for line in InvoiceLine.objects.filter(invoice_id=invoice.id).order_by("ordinal")
    ]
    if invoice.tax:
        lines.append(ExportedLine(f"{invoice.id}:tax", words["tax"], int(invoice.tax / unit)))
    if invoice.credited:
        lines.append(ExportedLine(f"{invoice.id}:credit", words["credited"], int(-invoice.credited / unit)))
    due_at = invoice.due_at or invoice.period_end
    return ExportedInvoice(str(invoice.id), invoice.number, invoice.currency, due_at, tuple(lines))


def _credit_note(note: Invoice, invoice: str) -> ExportedCreditNote:
    unit = minor_unit(note.currency)
    grants = CreditGrant.objects.filter(source=f"credit_note:{note.id}")
    outside = grants.aggregate(sum=Sum("amount", default=Decimal(0)))["sum"]
    return ExportedCreditNote(
        str(note.id), note.number, invoice, note.reason, int(-note.total / unit), int(outside / unit)
    )


def _customer(tenant_id: UUID, sink: Sink) -> str:
    with tenant_scope(tenant_id):
        state = _state(tenant_id, sink, CUSTOMER)
        name = Tenant.objects.values_list("name", flat=True).get(id=tenant_id)
    if state.external_id:
        return str(state.external_id)
    customer = sink.customer(encode("tnt", tenant_id), name)
    with tenant_scope(tenant_id):
        ExportState.objects.filter(id=state.id).update(external_id=customer)
    return customer


def _state(tenant_id: UUID, sink: Sink, subject: str) -> ExportState:
    state: ExportState = ExportState.objects.get_or_create(tenant_id=tenant_id, sink=sink.name, subject=subject)[0]
    return state
