"""Lago: events in batches of at most 100 (API `v1/events/batch`), and customers.

Our tenant is the customer and, under the same name, its subscription. The billable metrics have the names of our
meters as codes and sum the field `value`. Lago makes its own invoices from the events, so ours are not sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from backend.billing.exports.sinks import Client, ExportedCreditNote, ExportedInvoice, ExportFailed, MeterEvent
from backend.billing.rates import plain


class Lago:
    """A Lago organisation. A transaction_id is unique in a subscription for ever."""

    name = "lago"
    oldest: timedelta | None = None
    remembers: timedelta | None = None
    batch = 100

    def __init__(self, client: Client) -> None:
        self._client = client

    def customer(self, tenant: str, name: str) -> str:
        body = {"customer": {"external_id": tenant, "name": name}}
        self._client.post("/api/v1/customers", json=body)
        return tenant

    def send(self, customer: str, events: Sequence[MeterEvent]) -> None:
        rows = [
            {
                "transaction_id": event.id,
                "external_subscription_id": customer,
                "code": event.meter,
                "timestamp": f"{event.occurred_at.timestamp():.3f}",
                "properties": {"value": plain(event.quantity)},
            }
            for event in events
        ]
        try:
            self._client.post("/api/v1/events/batch", json={"events": rows})
        except ExportFailed as failed:
            # One known event refuses the whole batch.
            known = _known(failed.faults)
            if not known:
                raise
            rest = [event for n, event in enumerate(events) if n not in known]
            if rest:
                self.send(customer, rest)

    def total(self, customer: str, meter: str, start: datetime, end: datetime) -> Decimal:
        total, number = Decimal(0), 1
        while number:
            parameters = {
                "external_subscription_id": customer,
                "code": meter,
                "timestamp_from": start.isoformat(),
                "timestamp_to": end.isoformat(),
                "page": str(number),
                "per_page": "100",
            }
            reply = self._client.get("/api/v1/events", parameters)
            # The end of Lago's span is included, that of ours is not.
            total += sum(
                (Decimal(row["properties"]["value"]) for row in reply["events"] if _time(row) < end), Decimal(0)
            )
            number = reply["meta"]["next_page"]
        return total

    def send_invoice(self, customer: str, invoice: ExportedInvoice) -> str:
        return ""

    def send_credit_note(self, note: ExportedCreditNote) -> str:
        return ""

    def void_invoice(self, invoice: str) -> None:
        return

    def mark_paid(self, invoice: str) -> None:
        return


def _known(faults: Any) -> set[int]:
    """Return the positions of events that Lago has; empty if it refused the batch for another reason as well."""
    details = faults.get("error_details") if isinstance(faults, dict) else None
    if not isinstance(details, dict):
        return set()
    known = {n for n, fault in details.items() if fault == {"transaction_id": ["value_already_exist"]}}
    return {int(n) for n in known} if len(known) == len(details) else set()


def _time(row: dict[str, str]) -> datetime:
    return datetime.fromisoformat(row["timestamp"].replace("Z", "+00:00"))
