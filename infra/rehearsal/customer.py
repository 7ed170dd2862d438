"""What a customer does, through the published port: a tenant's key, a video, a question."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path

from infra.local.demo.client import ApiRefused, Client, sha256_of
from infra.rehearsal.containers import Container
from infra.rehearsal.plan import PUBLIC_URL, Plan
from infra.rehearsal.report import Report

_INDEX_S, _ANSWER_S, _POLL_S = 900.0, 480.0, 1.0
# Two minutes on a quiet machine; many times that where others keep its cores busy.
QUESTION = "What happens in the video?"
CHOICES = ("People walk across a square.", "A dog swims in a lake.")


class Customer:
    """Uses a started deployment by its API alone."""

    def __init__(self, planned: Plan, containers: Mapping[str, Container], report: Report) -> None:
        self._plan, self._containers, self._report = planned, containers, report

    def run(self, video: Path) -> None:
        """Make a tenant, index the video, ask about it; each step is one check, and a failed one is the last."""
        key = self._key()
        if key is None:
            return
        client = Client(PUBLIC_URL, key)
        try:
            if self._indexed(client, video):
                self._answered(client)
        except (ApiRefused, OSError, RuntimeError) as error:
            self._report.check("customer", False, f"{type(error).__name__}: {error}")

    def _key(self) -> str | None:
        if "api" in self._report.unwell:
            self._report.check("tenant", False, "the API does not run")
            return None
        command = ["python", "manage.py", "create_tenant", "--name", "Acme", "--slug", "acme", "--new-key"]
        done = self._containers["api"].execute(command, timeout_s=120)
        made = done.returncode == 0
        self._report.check(
            "tenant", made, "create_tenant in the API's container" if made else done.stderr.strip()[-500:]
        )
        return str(json.loads(done.stdout.strip().splitlines()[-1])["api_key"]) if made else None

    def _indexed(self, client: Client, file: Path) -> bool:
        began = time.monotonic()
        video = client.upload(file, sha256=sha256_of(file), on_sent=lambda sent: None)
        self._report.check("upload", True, f"{file.stat().st_size} bytes by presigned parts")
        status = video["status"]
        while time.monotonic() < began + _INDEX_S and status not in {"ready", "failed"}:
            time.sleep(_POLL_S)
            video = client.call("GET", f"/videos/{video['id']}")
            status = video["status"]
        seconds = time.monotonic() - began
        detail = f"{status} after {seconds:.0f} s" + (f": {video['error']}" if video.get("error") else "")
        if status != "ready":
            detail += f"; worker-index says: {self._says('worker-index')}"
        if not self._report.check("index", status == "ready", detail):
            return False
        gaps = video["gaps"]
        self._report.check("index.without_gaps", gaps["count"] == 0, json.dumps(gaps))
        self._video = video
        return True

    def _answered(self, client: Client) -> None:
        began = time.monotonic()
        body = {"question": QUESTION, "choices": list(CHOICES), "video_ids": [self._video["id"]]}
        question = client.call("POST", "/questions", body, idempotency_key=f"rehearsal-{time.time_ns()}")
        while time.monotonic() < began + _ANSWER_S and question["status"] not in {"succeeded", "failed", "canceled"}:
            time.sleep(_POLL_S)
            question = client.call("GET", f"/questions/{question['id']}")
        seconds = time.monotonic() - began
        held = question["status"] == "succeeded"
        said = f"{question['finish_reason']}, {question['answer']!r}" if held else str(question.get("error"))
        if not held:
            said += f"; worker-query says: {self._says('worker-query')}"
        self._report.check("answer", held, f"{question['status']} after {seconds:.0f} s: {said}")

    def _says(self, prefix: str) -> str:
        """Return the end of the logs of the containers whose names begin so."""
        return " | ".join(each.last_lines(4) for name, each in self._containers.items() if name.startswith(prefix))
