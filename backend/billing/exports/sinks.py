"""The interface to a billing system outside, and the HTTP client that all of them use."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Protocol
from urllib.parse import quote

import httpx

RETRIES = 5
"""Attempts of a request. Each names what it creates, so a repeated request creates nothing twice."""
LONGEST_PAUSE = 30.0
_TIMEOUT = 20.0


@dataclass(frozen=True, slots=True)
class MeterEvent:
    """A row of the ledger. id: of the row, by which a system recognises a repeated event. May be negative."""

    id: str
    meter: str
    quantity: Decimal
    occurred_at: datetime


@dataclass(frozen=True, slots=True)
class ExportedLine:
    """One line of an invoice. amount: in the currency's minor unit as a whole number, such as cents."""

    id: str
    description: str
    minor_amount: int


@dataclass(frozen=True, slots=True)
class ExportedInvoice:
    """A numbered invoice. The lines, with the tax as the last one, add up to its total."""

    id: str
    number: str
    currency: str
    due_at: datetime
    lines: tuple[ExportedLine, ...]


@dataclass(frozen=True, slots=True)
class ExportedCreditNote:
    """A numbered credit note. invoice: id in the system of the invoice that it corrects.

    minor_amount: with tax, positive. minor_outside: the part of it that became credit here, because the invoice was
    paid; the rest lowers what is due.
    """

    id: str
    number: str
    invoice: str
    reason: str
    minor_amount: int
    minor_outside: int


class Sink(Protocol):
    """A billing system. customer: the tenant's name in it, as customer() returned it.

    oldest: age above which the system refuses an event, None for no limit. batch: most events of one call of send().
    remembers: time for which a repeated event is recognised, None for ever.
    """

    name: str
    oldest: timedelta | None
    remembers: timedelta | None
    batch: int

    def customer(self, tenant: str, name: str) -> str:
        """Return the tenant's name in the system; create the customer if the system needs one."""

    def send(self, customer: str, events: Sequence[MeterEvent]) -> None:
        """Send events. Sent again, they count once. Raises ExportFailed."""

    def total(self, customer: str, meter: str, start: datetime, end: datetime) -> Decimal:
        """Return the quantity that the system has for a meter, with start <= time < end. Raises ExportFailed."""

    def send_invoice(self, customer: str, invoice: ExportedInvoice) -> str:
        """Send an invoice. Returns its id there; "" if the system takes no invoices. Raises ExportFailed."""

    def send_credit_note(self, note: ExportedCreditNote) -> str:
        """Send a credit note of an invoice that was sent before. Returns its id there. Raises ExportFailed."""

    def void_invoice(self, invoice: str) -> None:
        """Void an invoice, by its id there, so that nobody pays it. Raises ExportFailed."""

    def mark_paid(self, invoice: str) -> None:
        """Note that an invoice, by its id there, was paid outside of the system. Raises ExportFailed."""


class ExportFailed(Exception):
    """A billing system did not take a request.

    retry: whether the same request can succeed later. faults: the body of a refusal, None if there is none.
    """

    def __init__(self, detail: str, *, retry: bool, faults: Any = None) -> None:
        super().__init__(detail)
        self.retry = retry
        self.faults = faults


def path_of(*parts: str) -> str:
    """Return a path of these parts, each quoted, so that an id of another system names no other path."""
    return "/" + "/".join(quote(part, safe="") for part in parts)


class Client:
    """JSON and form requests with retries: on refused connections, lost replies, 409, 429 and 5xx."""

    def __init__(self, url: str, key: str, *, pause: Callable[[float], None] = time.sleep) -> None:
        self._http = httpx.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=_TIMEOUT)
        self._pause = pause

    def post(
        self,
        path: str,
        *,
        json: Any = None,
        form: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Return the body of the reply to a POST. Raises ExportFailed."""
        return self._request("POST", path, headers=headers, json=json, data=form)

    def get(self, path: str, parameters: Mapping[str, str]) -> Any:
        """Return the body of the reply to a GET. Raises ExportFailed."""
        return self._request("GET", path, params=parameters)

    def _request(self, method: str, path: str, **options: Any) -> Any:
        detail, wait = "", 0.0
        for attempt in range(RETRIES):
            if attempt:
                self._pause(wait)
            wait = min(LONGEST_PAUSE, 0.5 * 2**attempt)
            try:
                reply = self._http.request(method, path, **options)
            except httpx.TransportError as error:
                detail = f"{method} {path}: {type(error).__name__}"
                continue
            if reply.is_success:
                return reply.json() if reply.content else None
            detail = f"{method} {path}: {reply.status_code}"
            if reply.status_code not in (409, 429) and reply.status_code < 500:
                raise ExportFailed(detail, retry=False, faults=_body(reply))
            after = reply.headers.get("Retry-After", "")
            wait = min(LONGEST_PAUSE, float(after)) if after.isdigit() else wait
        raise ExportFailed(detail, retry=True)


def _body(reply: httpx.Response) -> Any:
    try:
        return reply.json()
    except ValueError:
        return None
