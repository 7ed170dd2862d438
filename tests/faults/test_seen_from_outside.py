"""A whole service as its operator sees it: metrics of each process, a trace from request to model call, JSON logs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from infra.local.app_processes import app_processes
from infra.local.metrics_targets import targets_file
from tests.e2e.service import Service, running_service, wait_for
from tests.engine.indexing.media import write_steady
from tests.otlp_collector import OtlpCollector, Seen
from tests.scripted_openai import Reply, ScriptedOpenAIServer, ScriptedRequest

pytestmark = pytest.mark.slow

QUESTION = "What did the woman in the red coat say?"
EXPORT_S = 60


def words(request: ScriptedRequest) -> Reply:
    texts = [{"reasoning": "E1 shows it.", "answer": "A", "evidence": [1]}] * request.n
    return Reply(texts, prompt_tokens=100, completion_tokens=20)


@dataclass
class Watched:
    """A service that has indexed one video and answered one question, and what arrived outside of it."""

    service: Service
    collector: OtlpCollector
    model: ScriptedOpenAIServer
    video: dict[str, Any]
    question: dict[str, Any]

    def samples(self, service: str) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
        """Scrape one process group. Returns the value by name and labels."""
        targets = json.loads(targets_file(self.service.root).read_text())
        (address,) = [one["targets"][0] for one in targets if one["labels"] == {"service": service}]
        answer = httpx.get(f"http://{address}/metrics", timeout=10, trust_env=False)
        assert answer.status_code == 200
        families = list(text_string_to_metric_families(answer.text))
        return {(s.name, frozenset(s.labels.items())): s.value for family in families for s in family.samples}

    def sample(self, service: str, name: str, **labels: str) -> float | None:
        return self.samples(service).get((name, frozenset(labels.items())))

    def lines(self, process: str) -> list[dict[str, Any]]:
        """Return the log of a process. Every line must be JSON, but for those of a C++ library."""
        lines = (self.service.root / "log" / f"{process}.log").read_text().splitlines()
        return [json.loads(line) for line in lines if not line.startswith("INFO: Created TensorFlow Lite")]

    def spans(self, name: str) -> list[Seen]:
        """Return the spans of the question's trace with names that begin so, once one is there."""
        (request,) = self.collector.named("POST /v1/questions")
        assert wait_for(lambda: any(s.trace == request.trace for s in self.collector.named(name)), EXPORT_S), name
        return [span for span in self.collector.named(name) if span.trace == request.trace]


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    folder = tmp_path_factory.mktemp("seen")
    clip = write_steady(folder / "clip.mp4", 6)
    with (
        OtlpCollector() as collector,
        ScriptedOpenAIServer(words, model="scripted") as model,
        running_service(
            folder / "root",
            REASONER_URL=model.url,
            REASONER_MODEL="scripted",
            OTEL_EXPORTER_OTLP_ENDPOINT=collector.endpoint,
            OTEL_BSP_SCHEDULE_DELAY="200",
        ) as service,
    ):
        client = service.client()
        video = service.wait_until_indexed(service.upload(clip))
        assert video["status"] == "ready", video
        asked = {"question": QUESTION, "choices": ["a word", "nothing"], "video_ids": [video["id"]], "effort": "low"}
        question = client.call("POST", "/questions", asked)

        def ended() -> bool:
            question.update(client.call("GET", f"/questions/{question['id']}"))
            return question["status"] not in ("queued", "running")

        assert wait_for(ended, 120)
        assert question["status"] == "succeeded", question
        yield Watched(service, collector, model, video, question)


def test_api_relay_and_workers_show_what_they_counted(watched: Watched) -> None:
    asked = {"method": "POST", "route": "/v1/questions", "status": "202"}
    assert watched.sample("api", "ava_http_request_seconds_count", **asked) == 1.0
    assert watched.sample("relay", "ava_database_up") == 1.0
    assert watched.sample("relay", "ava_queue_jobs", queue="gpu.query", state="due") == 0.0
    assert watched.sample("relay", "ava_queue_oldest_seconds", queue="gpu.query") == 0.0
    # The child of the pool counts, its parent answers.
    answered = {"kind": "answer_question", "outcome": "succeeded"}
    claimed = {"queue": "gpu.query", "kind": "answer_question", "how": "next"}
    assert watched.sample("worker-query", "ava_job_claims_total", **claimed) == 1.0
    assert watched.sample("worker-query", "ava_job_seconds_count", **answered) == 1.0
    assert watched.sample("worker-query", "ava_worker_processes", state="ready") == 1.0
    calls = len(watched.model.requests)
    assert watched.sample("worker-query", "ava_model_tokens_total", model="scripted", direction="prompt") == 100 * calls
    assert watched.sample("worker-index", "ava_chunks_total") == 2.0
    assert watched.sample("worker-index", "ava_stage_seconds_count", work="index", stage="decode") == 1.0


def test_no_metric_names_a_tenant_a_video_or_a_question(watched: Watched) -> None:
    targets = json.loads(targets_file(watched.service.root).read_text())
    assert {one["labels"]["service"] for one in targets} == {
        process.name for process in app_processes(0, 0, signer_port=0)
    }
    for target in targets:
        for name, labels in watched.samples(target["labels"]["service"]):
            assert not any(re.match(r"[a-z]{3}_[1-9A-HJ-NP-Za-km-z]{16,}$|[0-9a-f-]{32,}$", v) for _, v in labels), name


def test_one_trace_leads_from_the_request_to_the_model_call(watched: Watched) -> None:
    (request,) = watched.spans("POST /v1/questions")
    assert (request.service, request.kind, request.parent) == ("ava-api", "SERVER", "")
    (job,) = watched.spans("answer_question")
    assert (job.service, job.kind, job.parent) == ("ava-worker", "CONSUMER", request.id)
    assert job.attributes["ava.outcome"] == "succeeded"
    assert job.attributes["ava.question"] == watched.question["id"]
    calls = watched.spans("model scripted")
    assert len(calls) == len(watched.model.requests)
    assert {call.parent for call in calls} == {job.id}
    sent = {tuple(request.headers["traceparent"].split("-")[:3]) for request in watched.model.requests}
    assert sent == {("00", request.trace, call.id) for call in calls}


def test_no_span_carries_words_of_a_customer(watched: Watched) -> None:
    watched.spans("model scripted")
    assert not any("red coat" in str(span) for span in watched.collector.spans)


def test_every_process_logs_json_with_the_ids_of_its_work(watched: Watched) -> None:
    lines = [line for line in watched.lines("api") if line.get("route") == "/v1/questions"]
    (line,) = [line for line in lines if line["method"] == "POST"]
    assert (line["level"], line["logger"], line["status"]) == ("INFO", "ava.requests", 202)
    assert line["request"].startswith("req_")
    (job,) = watched.spans("answer_question")
    assert line["trace"] == job.trace
    worked = [line for line in watched.lines("worker-query") if line.get("kind") == "answer_question"]
    assert {line["question"] for line in worked} == {watched.question["id"]}
    assert {line["tenant"] for line in worked} == {line["tenant"]}
    assert {(line["trace"], line["attempt"]) for line in worked} == {(job.trace, "1")}
    for process in ("relay", "webhooks", "worker-probe", "worker-index"):
        assert watched.lines(process), process
