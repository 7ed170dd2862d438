"""Stripe: meter events (API `v1/billing/meter_events`), customers and invoices, by the parameters of its API 16.1.

A meter event has an identifier that is unique for at least 24 hours and a time at most 35 days back. A meter's
event_name is the name of our meter; its payload keys are Stripe's defaults, `stripe_customer_id` and `value`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from backend.billing.exports.sinks import (
    Client,
    ExportedCreditNote,
    ExportedInvoice,
    ExportFailed,
    MeterEvent,
    path_of,
)
from backend.billing.rates import plain


class Stripe:
    """A Stripe account. meters: the id of its meter (`mtr_…`) by the name of ours, needed for total() alone."""

    name = "stripe"
    oldest: timedelta | None = timedelta(days=35)
    remembers: timedelta | None = timedelta(hours=24)
    batch = 1

    def __init__(self, client: Client) -> None:
        self._client = client
        self._meters: dict[str, str] = {}

    def customer(self, tenant: str, name: str) -> str:
        form = {"name": name, "metadata[tenant]": tenant}
        reply = self._client.post("/v1/customers", form=form, headers=_once(f"customer:{tenant}"))
        return str(reply["id"])

    def send(self, customer: str, events: Sequence[MeterEvent]) -> None:
        for event in events:
            form = {
                "event_name": event.meter,
                "identifier": event.id,
                "timestamp": str(int(event.occurred_at.timestamp())),
                "payload[stripe_customer_id]": customer,
                "payload[value]": plain(event.quantity),
            }
            self._client.post("/v1/billing/meter_events", form=form, headers=_once(f"event:{event.id}"))

    def total(self, customer: str, meter: str, start: datetime, end: datetime) -> Decimal:
        parameters = {
            "customer": customer,
            "start_time": str(int(start.timestamp())),
            "end_time": str(int(end.timestamp())),
        }
        reply = self._client.get(path_of("v1", "billing", "meters", self._meter(meter), "event_summaries"), parameters)
        return sum((Decimal(str(row["aggregated_value"])) for row in reply["data"]), Decimal(0))

    def _meter(self, meter: str) -> str:
        if not self._meters:
            reply = self._client.get("/v1/billing/meters", {"status": "active", "limit": "100"})
            self._meters = {row["event_name"]: row["id"] for row in reply["data"]}
        if meter not in self._meters:
            raise ExportFailed(f"there is no active meter with the event name {meter}", retry=False)
        return self._meters[meter]

    def send_invoice(self, customer: str, invoice: ExportedInvoice) -> str:
        currency = invoice.currency.lower()
        form = {
            "customer": customer,
            "currency": currency,
            "number": invoice.number,
            "collection_method": "send_invoice",
            "due_date": str(int(invoice.due_at.timestamp())),
            "auto_advance": "false",
            "pending_invoice_items_behavior": "exclude",
            "metadata[invoice]": invoice.id,
        }
        made = self._client.post("/v1/invoices", form=form, headers=_once(f"invoice:{invoice.id}"))["id"]
        for line in invoice.lines:
            item = {
                "customer": customer,
                "invoice": made,
                "currency": currency,
                "amount": str(line.minor_amount),
                "description": line.description,
            }
            self._client.post("/v1/invoiceitems", form=item, headers=_once(f"line:{line.id}"))
        self._client.post(path_of("v1", "invoices", made, "finalize"), form={}, headers=_once(f"finalize:{invoice.id}"))
        return str(made)

    def send_credit_note(self, note: ExportedCreditNote) -> str:
        form = {
            "invoice": note.invoice,
            "lines[0][type]": "custom_line_item",
            "lines[0][description]": f"{note.number}: {note.reason}",
            "lines[0][quantity]": "1",
            "lines[0][unit_amount]": str(note.minor_amount),
            "memo": note.reason,
            "metadata[credit_note]": note.id,
            "metadata[number]": note.number,
        }
        if note.minor_outside:
            # Our own credit pays later invoices as a line of theirs, so Stripe must not keep a balance as well.
            form["out_of_band_amount"] = str(note.minor_outside)
        made = self._client.post("/v1/credit_notes", form=form, headers=_once(f"credit_note:{note.id}"))
        return str(made["id"])

    def void_invoice(self, invoice: str) -> None:
        self._settle(invoice, "void", {}, status="void")

    def mark_paid(self, invoice: str) -> None:
        self._settle(invoice, "pay", {"paid_out_of_band": "true"}, status="paid")

    def _settle(self, invoice: str, verb: str, form: dict[str, str], *, status: str) -> None:
        try:
            self._client.post(path_of("v1", "invoices", invoice, verb), form=form, headers=_once(f"{verb}:{invoice}"))
        except ExportFailed as failed:
            # Stripe forgets a key after a day, and people settle invoices in its dashboard too.
            if failed.retry or self._client.get(path_of("v1", "invoices", invoice), {})["status"] != status:
                raise


def _once(name: str) -> dict[str, str]:
    return {"Idempotency-Key": f"ava:{name}"}
