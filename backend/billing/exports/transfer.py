"""Transfers of one tenant's usage and invoices to a billing system.

A cursor in ExportState moves after each batch. Rows that were recorded shortly before it are sent again, because their
transaction may have ended after the cursor passed; the system recognises them by their ids. No transaction is open
while the system is asked.

What a system refuses is written to the state of its subject (failures, last_error), and a refused document holds up no
other. Its time of update stays: by it an export knows what the system has forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from uuid import UUID

from django.conf import settings
from django.db.models import F, Q, Sum
from django.utils import timezone

from backend.api.public_ids import encode
from backend.billing.currencies import minor_unit
from backend.billing.documents.words import Words
from backend.billing.exports.lago import Lago
from backend.billing.exports.openmeter import OpenMeter
from backend.billing.exports.sinks import (
    Client,
    ExportedCreditNote,
    ExportedInvoice,
    ExportedLine,
    ExportFailed,
    MeterEvent,
    Sink,
)
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
EXPORTED = Q(meter__in=METERS, billable=True)
"""Condition of the rows of the ledger that are exported."""
SINKS: dict[str, Callable[[Client], Sink]] = {"stripe": Stripe, "lago": Lago, "openmeter": OpenMeter}


def configured_sink() -> Sink | None:
    """Return the billing system of the settings, None if there is none. Raises KeyError for an unknown name."""
    if not settings.BILLING_SINK:
        return None
    return SINKS[settings.BILLING_SINK](Client(settings.BILLING_SINK_URL, settings.BILLING_SINK_KEY))


def export_usage(tenant_id: UUID, sink: Sink, *, now: datetime | None = None) -> int:
    """Send the billable usage that is new since the last export. Returns the number of events, repeated ones included.

    Usage that is older than the system takes is counted as skipped. Raises ExportFailed; what was sent before it stays.
    """
    customer = customer_of(tenant_id, sink)
    try:
        return _send_usage(tenant_id, sink, customer, now or timezone.now())
    except ExportFailed as failed:
        _note_failure(tenant_id, sink, USAGE, failed)
        raise


def _send_usage(tenant_id: UUID, sink: Sink, customer: str, at: datetime) -> int:
    sent = 0
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
            state = state_of(tenant_id, sink, USAGE)
            # A row in the overlap was counted by the export before.
            skipped = sum(
                row not in fresh and (state.exported_until is None or row.recorded_at > state.exported_until)
                for row in rows
            )
            if skipped:
                state.skipped, state.skipped_at = state.skipped + skipped, at
            state.exported_until = max(state.exported_until or last[0], last[0])
            state.save()
    with tenant_scope(tenant_id):
        ExportState.objects.filter(sink=sink.name, subject=USAGE).update(failures=0, last_error="")
    return sent


def export_invoices(tenant_id: UUID, sink: Sink) -> int:
    """Send the numbered invoices that have not been sent. Returns their number.

    Raises ExportFailed: at once if the system cannot be reached, else after the other invoices.
    """
    customer = customer_of(tenant_id, sink)
    with tenant_scope(tenant_id):
        done = _done(sink)
        invoices = [
            invoice
            for invoice in Invoice.objects.filter(kind=InvoiceKind.INVOICE, state__in=_NUMBERED).order_by("sequence")
            if f"invoice:{invoice.id}" not in done
        ]

    def send(invoice: Invoice) -> str:
        with tenant_scope(tenant_id):
            body = _invoice(invoice)
        return sink.send_invoice(customer, body)

    return _send_each(tenant_id, sink, {f"invoice:{one.id}": partial(send, one) for one in invoices})


def export_credit_notes(tenant_id: UUID, sink: Sink) -> int:
    """Send the credit notes that have not been sent, of invoices that the system has. Returns their number.

    A note that was made after the payment waits until the system knows the payment, see export_settlements(). A system
    that makes its own invoices gets none, since it has no invoice of ours to correct. Raises as export_invoices() does.
    """
    with tenant_scope(tenant_id):
        done = _done(sink)
        numbered = Invoice.objects.filter(state__in=_NUMBERED)
        unsettled = {one.id for one in numbered.filter(kind=InvoiceKind.INVOICE) if _paid_outside(one)} - {
            UUID(subject.removeprefix("paid:")) for subject in done if subject.startswith("paid:")
        }
        notes = [
            (note.corrects_id, _credit_note(note, done[f"invoice:{note.corrects_id}"]))
            for note in numbered.filter(kind=InvoiceKind.CREDIT_NOTE).order_by("sequence")
            if f"credit_note:{note.id}" not in done and done.get(f"invoice:{note.corrects_id}")
        ]
    ready = [note for corrects, note in notes if not (note.minor_outside and corrects in unsettled)]
    return _send_each(
        tenant_id, sink, {f"credit_note:{note.id}": partial(sink.send_credit_note, note) for note in ready}
    )


def export_settlements(tenant_id: UUID, sink: Sink) -> int:
    """Void and mark as paid in the system what is void and paid here. Returns the number of invoices.

    An invoice that credit and credit notes paid is paid there by its lines and notes. Raises as export_invoices() does.
    """
    with tenant_scope(tenant_id):
        done = _done(sink)
        invoices = Invoice.objects.filter(kind=InvoiceKind.INVOICE).order_by("sequence")
        known = [(one, done[f"invoice:{one.id}"]) for one in invoices if done.get(f"invoice:{one.id}")]
    settled = {
        f"void:{one.id}": partial(_settled, sink.void_invoice, there)
        for one, there in known
        if one.state == InvoiceState.VOID
    } | {f"paid:{one.id}": partial(_settled, sink.mark_paid, there) for one, there in known if _paid_outside(one)}
    return _send_each(tenant_id, sink, {subject: send for subject, send in settled.items() if subject not in done})


def _paid_outside(invoice: Invoice) -> bool:
    return bool(invoice.paid > 0)


def _settled(settle: Callable[[str], None], invoice: str) -> str:
    settle(invoice)
    return invoice


def _done(sink: Sink) -> dict[str, str]:
    """Return the id in the system of each subject that reached it, "" for one that it does not take."""
    return dict(ExportState.objects.filter(sink=sink.name, failures=0).values_list("subject", "external_id"))


def _send_each(tenant_id: UUID, sink: Sink, sending: Mapping[str, Callable[[], str]]) -> int:
    """Send documents, by subject, and note each outcome. Returns the number of those that were taken."""
    refused: list[ExportFailed] = []
    for subject, send in sending.items():
        try:
            external = send()
        except ExportFailed as failed:
            _note_failure(tenant_id, sink, subject, failed)
            if failed.retry:
                raise
            refused.append(failed)
        else:
            _note_success(tenant_id, sink, subject, external)
    if refused:
        raise refused[0]
    return len(sending)


def _note_success(tenant_id: UUID, sink: Sink, subject: str, external: str) -> None:
    with tenant_scope(tenant_id):
        ExportState.objects.update_or_create(
            tenant_id=tenant_id,
            sink=sink.name,
            subject=subject,
            defaults={"external_id": external, "failures": 0, "last_error": ""},
        )


def _note_failure(tenant_id: UUID, sink: Sink, subject: str, failed: ExportFailed) -> None:
    with tenant_scope(tenant_id):
        state = state_of(tenant_id, sink, subject)
        ExportState.objects.filter(id=state.id).update(failures=F("failures") + 1, last_error=str(failed)[:200])


_NUMBERED = (InvoiceState.FINAL, InvoiceState.PAID)


def _begin(tenant_id: UUID, sink: Sink, at: datetime) -> datetime | None:
    with tenant_scope(tenant_id):
        state = state_of(tenant_id, sink, USAGE)
    if state.exported_until is None:
        return None
    # After a long outage the system would no longer recognise what it has: a comparison shows what was lost.
    forgotten = sink.remembers is not None and at - state.updated_at > sink.remembers - timedelta(hours=1)
    return state.exported_until if forgotten else state.exported_until - OVERLAP


def _rows(since: datetime | None, last: tuple[datetime, UUID] | None, until: datetime) -> list[UsageEvent]:
    rows = UsageEvent.objects.filter(EXPORTED, recorded_at__lt=until)
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


def customer_of(tenant_id: UUID, sink: Sink) -> str:
    """Return the id of a tenant in a billing system, where it is entered at the first time. Raises ExportFailed."""
    with tenant_scope(tenant_id):
        state = state_of(tenant_id, sink, CUSTOMER)
        name = Tenant.objects.values_list("name", flat=True).get(id=tenant_id)
    if state.external_id:
        return str(state.external_id)
    try:
        customer = sink.customer(encode("tnt", tenant_id), name)
    except ExportFailed as failed:
        _note_failure(tenant_id, sink, CUSTOMER, failed)
        raise
    _note_success(tenant_id, sink, CUSTOMER, customer)
    return customer


def state_of(tenant_id: UUID, sink: Sink, subject: str) -> ExportState:
    """Return the state of a subject of the entered tenant."""
    state: ExportState = ExportState.objects.get_or_create(tenant_id=tenant_id, sink=sink.name, subject=subject)[0]
    return state
