"""The models of the chaos runs: answers that depend on the request alone, and every way in which a server is unwell."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from tests.scripted_openai import Fault, Reply, ScriptedRequest
from tests.tasks.eyes import see

INDEXING = {"chunk_description", "topic", "overview", "event_summary", "event", "event_graph"}
DESCRIBER, REASONER = "describer", "reasoner"
SLOW_S = 1.5
ILLS: dict[str, Callable[[], Fault | None]] = {
    "slow": lambda: time.sleep(SLOW_S),
    "garbage": lambda: Fault(body=b"<html>502 Bad Gateway</html>", content_type="text/html"),
    "half": lambda: Fault(half_body=True),
    "reset": lambda: Fault(drop=True),
    "overloaded": lambda: Fault(429, "rate_limit_exceeded", "slow down", {"Retry-After": "1"}),
    "unavailable": lambda: Fault(503, "unavailable", "the model loads"),
    "broken": lambda: Fault(500, "internal_error", "out of memory"),
    "wrong_key": lambda: Fault(401, "invalid_api_key", "the key is wrong"),
    "no_model": lambda: Fault(404, "model_not_found", "the model `scripted` does not exist"),
}
"""Ways in which the model server is unwell, apart from being away."""


class Patient:
    """The script of a model server that may fall ill. role: whose calls find it ill; "" for those of all roles."""

    def __init__(self) -> None:
        self.ill = self.role = ""

    def fall_ill(self, ill: str, role: str = "") -> None:
        """Be unwell from now on, or well again with ""."""
        self.ill, self.role = ill, role

    def __call__(self, request: ScriptedRequest) -> Any:
        if self.ill and self.role in ("", _role(request)):
            fault = ILLS[self.ill]()
            if fault is not None:
                return fault
        answer = see(request) if request.schema_name in INDEXING else _answer(request)
        texts = answer if isinstance(answer, list) else [answer] * request.n
        # A fixed price for every call: the bill depends on the number of the calls.
        return Reply(texts, prompt_tokens=100, completion_tokens=20)


def _role(request: ScriptedRequest) -> str:
    return DESCRIBER if request.schema_name == "chunk_description" else REASONER


def _answer(request: ScriptedRequest) -> list[dict[str, Any]]:
    return [{"reasoning": "E1 shows it.", "answer": "A", "evidence": [1]}] * request.n
