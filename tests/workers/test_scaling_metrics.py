"""Published is what groups of machines are scaled by: late and running jobs, and requests at model servers."""

from __future__ import annotations

import itertools
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from uuid import uuid4

import boto3
import pytest
from botocore.stub import Stubber
from django.utils import timezone

from backend.billing.models import InvariantResult
from backend.billing.services.findings import UNRATED_MODELS
from backend.jobs import breakers, services
from backend.jobs.models import QUEUE_OF, Job, JobKind, JobState
from tests.conftest import Cast
from tests.isolation.test_catalog import superuser
from tests.lost_connection import lose_connection
from workers.management.commands import publish_metrics
from workers.metrics import queue_metrics, server_metrics
from workers.metrics.server_metrics import RUNNING, WAITING, ServerAddress, configured_servers, read_load

PROJECT = Path(__file__).resolve().parents[2]
PATIENCE_S = 120
VLLM_METRICS = """\
# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="Qwen/Qwen3-VL-8B {fp8}"} 41.0
vllm:num_requests_running{engine="1",model_name="Qwen/Qwen3-VL-8B {fp8}"} 23.0
# HELP vllm:num_requests_waiting Number of requests waiting to be processed.
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{engine="0",model_name="Qwen/Qwen3-VL-8B {fp8}"} 7.0
vllm:num_requests_waiting{engine="1",model_name="Qwen/Qwen3-VL-8B {fp8}"} 2.0
vllm:num_requests_waiting_by_reason{engine="0",model_name="Qwen/Qwen3-VL-8B {fp8}",reason="capacity"} 100.0
vllm:num_preemptions_total{engine="0",model_name="Qwen/Qwen3-VL-8B {fp8}"} 3.0
"""


class ScriptedServer(BaseHTTPRequestHandler):
    """Answers GET /metrics with `text` to those who send `key`; without end if `endless`."""

    text = VLLM_METRICS
    key = ""
    endless = False
    paths: list[str]

    def do_GET(self) -> None:
        self.paths.append(self.path)
        if self.path != "/metrics":
            self.send_error(404)
        elif self.key and self.headers.get("Authorization") != f"Bearer {self.key}":
            self.send_error(401)
        else:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(self.text.encode())
            while self.endless:
                try:
                    self.wfile.write(b"# more\n" * 10_000)
                except OSError:
                    return

    def log_message(self, *arguments: object) -> None:
        pass


class ScriptedCloudWatch(BaseHTTPRequestHandler):
    """Accepts each request and hands its body on."""

    bodies: queue.Queue[bytes]

    def do_POST(self) -> None:
        self.bodies.put(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        for name in ("smithy-protocol", "Content-Type"):
            if name in self.headers:
                self.send_header(name, self.headers[name])
        self.end_headers()
        # Nothing, in each of the protocols that botocore speaks here.
        cbor = "smithy-protocol" in self.headers
        self.wfile.write(b"\xa0" if cbor else b"<PutMetricDataResponse></PutMetricDataResponse>")

    def log_message(self, *arguments: object) -> None:
        pass


@contextmanager
def server(*, text: str = VLLM_METRICS, key: str = "", endless: bool = False) -> Iterator[tuple[str, list[str]]]:
    """Run a model server; yield its root and the paths that were asked for."""
    paths: list[str] = []
    with serving(ScriptedServer, text=text, key=key, endless=endless, paths=paths) as root:
        yield root, paths


@contextmanager
def serving(kind: type[BaseHTTPRequestHandler], **attributes: object) -> Iterator[str]:
    handler = type("Handler", (kind,), attributes)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{running.server_address[1]}"
        finally:
            running.shutdown()
            thread.join()


def test_requests_of_all_engines_of_a_server_are_added() -> None:
    with server() as (root, _):
        assert read_load(ServerAddress("vlm", root)) == {WAITING: 9.0, RUNNING: 64.0}


def test_a_server_that_wants_its_key_is_sent_it() -> None:
    with server(key="secret") as (root, _):
        assert read_load(ServerAddress("vlm", root, "secret")) == {WAITING: 9.0, RUNNING: 64.0}
        assert read_load(ServerAddress("vlm", root, "other")) == {}


@pytest.mark.parametrize(
    "text", ["", "<html>Not Found</html>", "vllm:num_requests_waiting NaN\n", "llamacpp:requests_deferred 4\n"]
)
def test_a_server_without_vllms_numbers_reports_nothing(text: str) -> None:
    with server(text=text) as (root, _):
        assert read_load(ServerAddress("reasoner", root)) == {}


def test_a_server_that_is_away_reports_nothing() -> None:
    with server() as (root, _):
        pass
    assert read_load(ServerAddress("vlm", root)) == {}


def test_an_answer_without_end_is_left() -> None:
    passing = itertools.count(0.0, server_metrics.TOTAL_SECONDS + 1)
    with server(endless=True) as (root, _):
        assert read_load(ServerAddress("vlm", root), clock=lambda: next(passing)) == {}
        assert read_load(ServerAddress("vlm", root), clock=lambda: 0.0) == {}  # ended by its length


def test_each_server_is_asked_once_under_its_name_in_the_preset() -> None:
    env = {
        "MODEL_PRESET": "two-gpus",
        "MODEL_API_KEY": "shared",
        "DESCRIBER_URL": "http://models:8001/v1",
        "REASONER_URL": "http://models:8002/v1/",
        "RERANKER_URL": "http://models:8006/v1",
    }
    assert configured_servers(env) == [
        ServerAddress("vlm", "http://models:8001", "shared"),
        ServerAddress("llm", "http://models:8002", "shared"),
        ServerAddress("reranker", "http://models:8006", "shared"),
    ]


def test_a_server_without_a_preset_is_named_after_its_first_role() -> None:
    env = {"DESCRIBER_URL": "https://models.example.com/v1", "REASONER_URL": "https://models.example.com/v1"}
    assert configured_servers(env) == [ServerAddress("describer", "https://models.example.com")]


def test_only_servers_that_report_are_published(monkeypatch: pytest.MonkeyPatch) -> None:
    cloudwatch = boto3.client("cloudwatch", "eu-central-1", aws_access_key_id="a", aws_secret_access_key="b")
    monkeypatch.setattr(boto3.Session, "client", lambda self, name, **_: cloudwatch)
    by_server = {"Dimensions": [{"Name": "Server", "Value": "vlm"}], "Unit": "Count"}
    data = [{"MetricName": WAITING, "Value": 9.0, **by_server}, {"MetricName": RUNNING, "Value": 64.0, **by_server}]
    with (
        server() as (root, asked),
        server(text="") as (silent, asked_in_vain),
        Stubber(cloudwatch) as stub,
    ):
        stub.add_response("put_metric_data", {}, {"Namespace": "AVA/prod", "MetricData": data})
        servers = [ServerAddress("reasoner", silent), ServerAddress("vlm", root)]
        server_metrics.publish_server_loads("AVA/prod", servers)
        stub.assert_no_pending_responses()
        # A second request would fail, because none is scripted.
        server_metrics.publish_server_loads("AVA/prod", servers[:1])
        server_metrics.publish_server_loads("AVA/prod", [])
    assert (asked, asked_in_vain) == (["/metrics"], ["/metrics", "/metrics"])


def test_an_interface_that_refuses_is_no_error(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    cloudwatch = boto3.client("cloudwatch", "eu-central-1", aws_access_key_id="a", aws_secret_access_key="b")
    monkeypatch.setattr(boto3.Session, "client", lambda self, name, **_: cloudwatch)
    with server() as (root, _), Stubber(cloudwatch) as stub:
        stub.add_client_error("put_metric_data", "AccessDenied")
        server_metrics.publish_server_loads("AVA/prod", [ServerAddress("vlm", root)])
    assert "could not be published" in caplog.text


def test_running_jobs_are_counted_per_queue_next_to_the_age_of_waiting_ones(acme: Cast) -> None:
    before = of_queues()
    assert set(before) == {
        (name, queue) for name in ("OldestRunnableAge", "RunningJobs") for queue in QUEUE_OF.values()
    }
    with acme.scope():
        for state in (JobState.RUNNING, JobState.RUNNING, JobState.SUCCEEDED):
            job = services.enqueue(kind=JobKind.OBSERVE_SEGMENT, subject_id=uuid4(), dedupe_key=f"observe:{uuid4()}")
            # The lease of a lost worker has run out: its job still needs a machine.
            Job.objects.filter(id=job.id).update(state=state, lease_until=timezone.now())
    after = of_queues()
    grown = {key: after[key]["Value"] - before[key]["Value"] for key in after if key[0] == "RunningJobs"}
    assert grown == {("RunningJobs", queue): 2.0 if queue == "gpu.index" else 0.0 for queue in set(QUEUE_OF.values())}
    assert after["RunningJobs", "gpu.index"]["Unit"] == "Count"


def test_dependencies_that_are_away_and_dead_jobs_are_counted_over_all_queues(acme: Cast) -> None:
    before = alarming()
    breakers.opened(f"probe:{uuid4()}", code="model_unavailable", message="HTTP 503")
    with acme.scope():
        for age, state in ((0, JobState.DEAD), (1, JobState.DEAD), (0, JobState.FAILED)):
            job = services.enqueue(kind=JobKind.PURGE_VIDEO, subject_id=uuid4(), dedupe_key=f"purge:{uuid4()}")
            Job.objects.filter(id=job.id).update(state=state, completed_at=timezone.now() - timedelta(hours=age))
    after = alarming()
    names = ("DependenciesAway", "DeadJobs")
    assert {name: after[name] - before[name] for name in names} == {"DependenciesAway": 1.0, "DeadJobs": 1.0}


def test_what_the_checks_of_money_found_is_published_with_their_age(acme: Cast) -> None:
    results = InvariantResult.objects.using("dispatch")
    with superuser() as server:
        server.execute("DELETE FROM billing_invariantresult")
    assert alarming() == {**alarming(), "InvariantViolations": 0.0, "MoneyFindings": 0.0}
    assert "InvariantsAgeSeconds" not in alarming(), "nothing was checked yet"
    try:
        now = timezone.now()
        for name, violations, hours in (("a", 2, 30), ("b", 1, 3), ("c", 0, 1)):
            results.create(name=name, violations=violations, checked_at=now - timedelta(hours=hours))
        finding = results.create(name=UNRATED_MODELS, violations=4, checked_at=now - timedelta(hours=1))
        shown = alarming()
        results.filter(name=finding.name).update(checked_at=now - timedelta(hours=60))
        late = alarming()
    finally:
        with superuser() as server:
            server.execute("DELETE FROM billing_invariantresult")
    assert (shown["InvariantViolations"], shown["MoneyFindings"]) == (3.0, 4.0)
    assert shown["InvariantsAgeSeconds"] // 3600 == 30
    assert late["InvariantsAgeSeconds"] // 3600 == 60, "a sweep that compares money has stopped"


def alarming() -> dict[str, float]:
    return {point["MetricName"]: point["Value"] for point in queue_metrics.queue_data() if not point["Dimensions"]}


def of_queues() -> dict[tuple[str, str], dict[str, Any]]:
    points = [point for point in queue_metrics.queue_data() if point["Dimensions"]]
    return {(point["MetricName"], point["Dimensions"][0]["Value"]): point for point in points}


def test_one_process_publishes_queues_and_the_servers_that_answer() -> None:
    bodies: queue.Queue[bytes] = queue.Queue()
    with (
        server(endless=True) as (stuck, _),
        server() as (describer, _),
        serving(ScriptedCloudWatch, bodies=bodies) as cloudwatch,
    ):
        environment = {
            **os.environ,
            "AVA_CLOUDWATCH_NAMESPACE": "AVA/test",
            "AWS_ENDPOINT_URL_CLOUDWATCH": cloudwatch,
            "AWS_DEFAULT_REGION": "eu-central-1",
            "AWS_ACCESS_KEY_ID": "a",
            "AWS_SECRET_ACCESS_KEY": "b",
            "MODEL_PRESET": "two-gpus",
            "DESCRIBER_URL": f"{describer}/v1",
            "REASONER_URL": f"{stuck}/v1",
        }
        broker = queue_metrics.connect_broker()
        queue_metrics.leave_sign(broker)
        publisher = subprocess.Popen([sys.executable, "manage.py", "publish_metrics"], cwd=PROJECT, env=environment)
        try:
            queues, servers = sorted(
                (bodies.get(timeout=PATIENCE_S) for _ in range(2)), key=lambda body: b"vlm" in body
            )
        finally:
            publisher.send_signal(signal.SIGTERM)
            assert publisher.wait(PATIENCE_S) == 0
    assert all(name in queues for name in (b"OldestRunnableAge", b"RunningJobs", b"gpu.index"))
    assert all(name in servers for name in (b"ModelRequestsWaiting", b"ModelRequestsRunning", b"vlm"))
    assert b"llm" not in servers


def test_queues_are_silent_while_no_relay_works(database: None, caplog: pytest.LogCaptureFixture) -> None:
    broker = queue_metrics.connect_broker()
    broker.delete(queue_metrics.RELAY_SIGN)
    # Without credentials and an address, a call to CloudWatch would fail.
    queue_metrics.publish_queue_ages("AVA/test", broker)
    assert "no relay works" in caplog.text


def test_a_database_that_is_lost_costs_the_metrics_of_a_minute_and_not_the_process(
    database: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(publish_metrics, "publish_queue_ages", lambda *_: lose_connection("dispatch"))
    publish_metrics._publish_queues("AVA/test", queue_metrics.connect_broker())
    assert "database away" in caplog.text
