"""A local server that speaks the HTTP APIs of Stripe, Lago and OpenMeter as far as exports use them."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

KEY = "key_of_the_test"


class ScriptedBilling:
    """The state of the server. now: its clock. troubles: what the next requests meet: a status, or "lost" for a reply
    that never arrives although the request was carried out."""

    def __init__(self, now: float) -> None:
        self.now = now
        self.troubles: list[int | str] = []
        self.events: dict[str, dict[str, Any]] = {}
        self.customers: dict[str, str] = {}
        self.invoices: dict[str, dict[str, Any]] = {}
        self.items: list[dict[str, str]] = []
        self.credit_notes: list[dict[str, str]] = []
        self.replies: dict[str, tuple[int, Any]] = {}
        self.requests: list[str] = []

    def stripe(self, path: str, form: dict[str, str], key: str) -> tuple[int, Any]:
        """Answer a POST of Stripe; a repeated Idempotency-Key gets the first reply."""
        if key not in self.replies:
            self.replies[key] = self._stripe(path, form)
        return self.replies[key]

    def _stripe(self, path: str, form: dict[str, str]) -> tuple[int, Any]:
        if path == "/v1/customers":
            self.customers[f"cus_{len(self.customers)}"] = form["metadata[tenant]"]
            return 200, {"id": list(self.customers)[-1]}
        if path == "/v1/billing/meter_events":
            age = self.now - int(form["timestamp"])
            if age > 35 * 86_400 or age < -300:
                return 400, {"error": {"code": "timestamp_too_far_in_past"}}
            if form["identifier"] in self.events:
                return 400, {"error": {"code": "duplicate_meter_event"}}
            self._take(
                form["identifier"], form["event_name"], form["payload[stripe_customer_id]"],
                float(form["timestamp"]), form["payload[value]"],
            )  # fmt: skip
            return 200, {"object": "billing.meter_event", "identifier": form["identifier"]}
        if path == "/v1/invoices":
            id = f"in_{len(self.invoices)}"
            self.invoices[id] = {**form, "status": "draft"}
            return 200, {"id": id}
        if path == "/v1/invoiceitems":
            self.items.append(form)
            return 200, {"id": f"ii_{len(self.items)}"}
        if path == "/v1/credit_notes":
            return self._credit_note(form)
        id, verb = path.split("/")[3:]
        return self._moved(id, verb, form)

    def _moved(self, id: str, verb: str, form: dict[str, str]) -> tuple[int, Any]:
        """Finalize, void or pay an invoice. One whose lines add up to nothing is paid when it is final."""
        invoice, total = self.invoices[id], sum(int(one["amount"]) for one in self.items if one["invoice"] == id)
        if verb == "finalize" and invoice["status"] == "draft":
            if total > 999_999_99:
                return 400, {"error": {"code": "amount_too_large"}}
            invoice["status"] = "open" if total > 0 else "paid"
        elif verb == "void" and invoice["status"] == "open":
            invoice["status"] = "void"
        elif verb == "pay" and invoice["status"] == "open" and form.get("paid_out_of_band") == "true":
            invoice["status"] = "paid"
        else:
            return 400, {"error": {"code": "invoice_not_editable"}}
        return 200, {"id": id, "status": invoice["status"]}

    def _credit_note(self, form: dict[str, str]) -> tuple[int, Any]:
        """Take a note of an invoice: what exceeds the rest that is due must be named as paid back outside."""
        invoice, amount = self.invoices.get(form["invoice"]), int(form["lines[0][unit_amount]"])
        if invoice is None or invoice["status"] not in ("open", "paid"):
            return 400, {"error": {"code": "invalid_request_error"}}
        total = sum(int(item["amount"]) for item in self.items if item["invoice"] == form["invoice"])
        noted = [note for note in self.credit_notes if note["invoice"] == form["invoice"]]
        due = total - sum(int(note["lines[0][unit_amount]"]) for note in noted) if invoice["status"] == "open" else 0
        if int(form.get("out_of_band_amount", "0")) != max(0, amount - due):
            return 400, {"error": {"code": "credit_note_amounts_mismatch"}}
        self.credit_notes.append(form)
        return 200, {"id": f"cn_{len(self.credit_notes)}"}

    def lago(self, rows: list[dict[str, Any]]) -> tuple[int, Any]:
        """Answer a batch of Lago: one known transaction refuses it all."""
        assert len(rows) <= 100
        known = {
            str(n): {"transaction_id": ["value_already_exist"]}
            for n, row in enumerate(rows)
            if row["transaction_id"] in self.events
        }
        if known:
            return 422, {"status": 422, "code": "validation_errors", "error_details": known}
        for row in rows:
            self._take(
                row["transaction_id"], row["code"], row["external_subscription_id"],
                float(row["timestamp"]), row["properties"]["value"],
            )  # fmt: skip
        return 200, {"events": rows}

    def openmeter(self, rows: list[dict[str, Any]]) -> tuple[int, Any]:
        """Answer a batch of CloudEvents: a known id is taken and counts once."""
        for row in rows:
            assert row["specversion"] == "1.0"
            at = datetime.fromisoformat(row["time"]).timestamp()
            self._take(row["id"], row["type"].removeprefix("ava."), row["subject"], at, row["data"]["value"])
        return 204, None

    def _take(self, id: str, meter: str, customer: str, at: float, value: str) -> None:
        self.events.setdefault(id, {"meter": meter, "customer": customer, "at": at, "value": value})

    def read(self, path: str, query: dict[str, str]) -> tuple[int, Any]:
        """Answer a GET."""
        if path == "/v1/billing/meters":
            meters = sorted({event["meter"] for event in self.events.values()})
            return 200, {"data": [{"id": f"mtr_{name}", "event_name": name} for name in meters]}
        if path.startswith("/v1/invoices/"):
            return 200, {"id": path.split("/")[3], "status": self.invoices[path.split("/")[3]]["status"]}
        if path.startswith("/v1/billing/meters/"):
            meter = path.split("/")[4].removeprefix("mtr_")
            found = self._sum(meter, query["customer"], float(query["start_time"]), float(query["end_time"]))
            return 200, {"data": [{"aggregated_value": float(found)}]}
        if path == "/api/v1/events":
            rows = self._between(query["code"], query["external_subscription_id"], *_span(query, "timestamp_"))
            page = int(query["page"])
            shown = rows[(page - 1) * 2 : page * 2]
            events = [
                {
                    "timestamp": datetime.fromtimestamp(row["at"]).astimezone().isoformat(),
                    "properties": {"value": row["value"]},
                }
                for row in shown
            ]
            return 200, {"events": events, "meta": {"next_page": page + 1 if page * 2 < len(rows) else None}}
        meter = path.split("/")[4]
        return 200, {"data": [{"value": float(self._sum(meter, query["subject"], *_span(query, "")))}]}

    def _between(self, meter: str, customer: str, start: float, end: float) -> list[dict[str, Any]]:
        return [
            event
            for event in self.events.values()
            if (event["meter"], event["customer"]) == (meter, customer) and start <= event["at"] < end
        ]

    def _sum(self, meter: str, customer: str, start: float, end: float) -> Decimal:
        return sum((Decimal(row["value"]) for row in self._between(meter, customer, start, end)), Decimal(0))


def _span(query: dict[str, str], prefix: str) -> tuple[float, float]:
    start, end = (datetime.fromisoformat(query[f"{prefix}{name}"]).timestamp() for name in ("from", "to"))
    return start, end


@contextmanager
def serving(now: float | None = None) -> Iterator[tuple[str, ScriptedBilling]]:
    """Serve on a free port. Yields the address and the state."""
    state = ScriptedBilling(time.time() if now is None else now)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"] or 0))
            self._answer(lambda path: _post(state, path, body, self.headers.get("Idempotency-Key", "")))

        def do_GET(self) -> None:
            query = dict(parse_qsl(urlsplit(self.path).query))
            self._answer(lambda path: state.read(path, query))

        def _answer(self, carry_out: Any) -> None:
            path = urlsplit(self.path).path
            state.requests.append(f"{self.command} {path}")
            reply: Any
            trouble = state.troubles.pop(0) if state.troubles else None
            if self.headers["Authorization"] != f"Bearer {KEY}":
                status, reply = 401, {}
            elif isinstance(trouble, int):
                status, reply = trouble, {}
            else:
                status, reply = carry_out(path)
            if trouble == "lost":
                self.close_connection = True
                return
            content = b"" if reply is None else json.dumps(reply).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", state
    finally:
        server.shutdown()
        server.server_close()


def _post(state: ScriptedBilling, path: str, body: bytes, key: str) -> tuple[int, Any]:
    if path.startswith("/v1/"):
        return state.stripe(path, dict(parse_qsl(body.decode())), key)
    values = json.loads(body)
    if path == "/api/v1/customers":
        return 200, {"customer": values["customer"]}
    return state.lago(values["events"]) if path.endswith("/batch") else state.openmeter(values)
