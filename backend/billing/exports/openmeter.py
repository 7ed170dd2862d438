"""OpenMeter: events as CloudEvents in batches (API `v1/events`), and the sums of its meters.

The type of an event is `ava.` and the name of our meter; a meter has our name as its slug and sums `$.value`. OpenMeter
makes its own invoices from the events, so ours are not sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from backend.billing.exports.sinks import Client, ExportedCreditNote, ExportedInvoice, MeterEvent, path_of
from backend.billing.rates import plain

SOURCE = "ava-cloud"


class OpenMeter:
    """An OpenMeter installation. An event's id is unique in its source for 32 days, as OpenMeter is shipped."""

    name = "openmeter"
    oldest: timedelta | None = None
    remembers: timedelta | None = timedelta(days=32)
    batch = 100

    def __init__(self, client: Client) -> None:
        self._client = client

    def customer(self, tenant: str, name: str) -> str:
        return tenant

    def send(self, customer: str, events: Sequence[MeterEvent]) -> None:
        rows = [
            {
                "specversion": "1.0",
                "type": f"ava.{event.meter}",
                "id": event.id,
                "time": event.occurred_at.isoformat(),
                "source": SOURCE,
                "subject": customer,
                "data": {"value": plain(event.quantity)},
            }
            for event in events
        ]
        self._client.post(
            "/api/v1/events",
            json=rows,
            headers={"Content-Type": "application/cloudevents-batch+json"},
        )

    def total(self, customer: str, meter: str, start: datetime, end: datetime) -> Decimal:
        parameters = {"subject": customer, "from": start.isoformat(), "to": end.isoformat()}
        reply = self._client.get(path_of("api", "v1", "meters", meter, "query"), parameters)
        return sum((Decimal(str(row["value"])) for row in reply["data"]), Decimal(0))

    def send_invoice(self, customer: str, invoice: ExportedInvoice) -> str:
        return ""

    def send_credit_note(self, note: ExportedCreditNote) -> str:
        return ""

    def void_invoice(self, invoice: str) -> None:
        return

    def mark_paid(self, invoice: str) -> None:
        return
