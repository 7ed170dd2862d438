"""One trace leads from a request through a stored job to a model call and on to the model's server."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest

from backend.jobs import services
from backend.jobs.dispatching import claim_next
from backend.jobs.models import Job, JobKind
from tests.conftest import Cast
from tests.otlp_collector import OtlpCollector
from tests.scripted_openai import ScriptedOpenAIServer

PROJECT = Path(__file__).parents[2]
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
# A process of its own, because a process has one exporter for good.
TRACED = """
import os, uuid
import django
django.setup()
from types import SimpleNamespace
from uuid import UUID
from rest_framework.test import APIClient
from backend.jobs import services
from backend.jobs.dispatching import claim_next
from backend.jobs.models import JobKind
from backend.observability import tracing
from backend.tenancy.context import tenant_scope
from gpu_workers.engine.models.roles import Message, Meter
from gpu_workers.engine.models.served.chat import OpenAIChatModel
from workers import runner

tracing.start("ava-test")
client = APIClient(headers={"traceparent": os.environ["PARENT"]})
assert client.get("/v1/videos").status_code == 401
model = OpenAIChatModel(base_url=os.environ["MODEL"], model="scripted")
message = Message("user", ("a secret of the customer",))

def handle(work):
    # The third sample is asked for by a thread of a pool.
    model.sample([message], stage="answer", meter=Meter(), n=2)
    work.finish()

runner.import_module = lambda name: SimpleNamespace(handle=handle)
tenant = UUID(os.environ["TENANT"])
with tracing.request_span("POST /v1/things", callers=os.environ["PARENT"]), tenant_scope(tenant):
    services.enqueue(kind=JobKind.PROBE_VIDEO, subject_id=uuid.uuid4(), dedupe_key=str(uuid.uuid4()))
runner.run_leased(claim_next("cpu.probe", worker="w"), worker="w")
tracing.flush()
"""


@pytest.mark.usefixtures("database")
def test_a_trace_goes_from_a_request_through_its_job_to_the_model_call(acme: Cast) -> None:
    with OtlpCollector() as collector, ScriptedOpenAIServer("hello", model="scripted", max_choices=1) as server:
        env = {
            **os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": collector.endpoint, "MODEL": server.url,
            "TENANT": str(acme.tenant_id), "PARENT": PARENT,
        }  # fmt: skip
        subprocess.run([sys.executable, "-c", TRACED], env=env, cwd=PROJECT, check=True, timeout=300)
    (request,) = collector.named("POST /v1/things")
    (job,) = collector.named("probe_video")
    calls = collector.named("model scripted")

    assert request.parent == "", "a caller does not choose the trace of our work"
    assert request.trace not in PARENT
    assert (job.trace, job.parent, job.kind) == (request.trace, request.id, "CONSUMER")
    assert job.attributes["ava.outcome"] == "succeeded"
    assert len(calls) == 2
    assert {(call.trace, call.parent) for call in calls} == {(request.trace, job.id)}
    sent = {tuple(request.headers["traceparent"].split("-")[1:3]) for request in server.requests}
    assert sent == {(call.trace, call.id) for call in calls}
    (refused,) = collector.named("GET /v1/videos")
    assert (refused.trace == request.trace, refused.attributes["http.response.status_code"]) == (False, 401)
    assert {span.service for span in collector.spans} == {"ava-test"}
    assert "secret" not in str(collector.spans)


@pytest.mark.usefixtures("database")
def test_without_an_endpoint_no_trace_is_stored(acme: Cast) -> None:
    with acme.scope():
        services.enqueue(kind=JobKind.PROBE_VIDEO, subject_id=uuid4(), dedupe_key=f"p:{uuid4()}")
        assert Job.objects.get().traceparent == ""
    lease = claim_next("cpu.probe", worker="w")
    assert lease is not None
    assert lease.traceparent == ""
