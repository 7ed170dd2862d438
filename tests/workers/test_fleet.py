"""What workers and model servers report about themselves, also when a server or the broker sends nonsense."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import override_settings

from backend.api.monitoring import broker, fleet_reports
from tests.workers.test_scaling_metrics import VLLM_METRICS, server
from workers.liveness import READY, ChildState, WorkerState
from workers.metrics.fleet import report_server, report_worker
from workers.metrics.server_metrics import ServerAddress, parse_tokens

READ, WRITTEN = "vllm:prompt_tokens_total", "vllm:generation_tokens_total"
AWAY = override_settings(REDIS_URL="redis://127.0.0.1:1/0")
"""Nothing listens on port 1."""


def counters(read: object, written: object) -> str:
    return f'{READ}{{engine="0"}} {read}\n{WRITTEN}{{engine="0"}} {written}\n'


@pytest.fixture(autouse=True)
def _no_reports(database: None) -> Iterator[None]:
    yield
    with broker.connect() as client:
        client.delete(fleet_reports.WORKERS, fleet_reports.SERVERS)


def reported(name: str) -> dict[str, Any]:
    return fleet_reports.last_report(fleet_reports.SERVERS, name)


def before(tokens: object, at: object) -> None:
    """Store an earlier report as it is."""
    fleet_reports.publish(fleet_reports.SERVERS, "vlm", {"tokens": tokens}, now=at)  # type: ignore[arg-type]


def test_the_tokens_of_all_engines_are_added() -> None:
    labels = 'engine="1",model_name="Qwen/Qwen3 {fp8} 8B"'
    text = f"# TYPE {READ} counter\n{counters(10, 4)}{READ}{{{labels}}} 1.5e+06\n{WRITTEN} 3 1700000000000\n"
    assert parse_tokens(text) == 1_500_017.0


@pytest.mark.parametrize(
    "text",
    [
        "", "<html>502 Bad Gateway</html>", VLLM_METRICS, f"{READ} 5\n", f"{WRITTEN} 5\n", f"{READ}\n{WRITTEN}\n",
        counters("NaN", 1), counters(1, "+Inf"), counters(-1, 1), counters("many", 1), counters("0x10", 1),
        f"# {READ} 1\n# {WRITTEN} 1\n", f"my_{READ} 1\nmy_{WRITTEN} 1\n", f"{READ}_created 1\n{WRITTEN}_created 1\n",
        counters(1, 1).replace("} ", "}"),
    ],
)  # fmt: skip
def test_a_server_that_does_not_count_its_tokens_has_none(text: str) -> None:
    assert parse_tokens(text) is None


def test_one_bad_sample_leaves_the_others() -> None:
    assert parse_tokens(counters(10, 4) + counters("NaN", -7)) == 14.0


def test_a_server_is_reported_with_its_requests_and_its_rate_from_the_second_report_on() -> None:
    with server(text=VLLM_METRICS + counters(900, 100)) as (root, _):
        report_server(ServerAddress("vlm", root))
        first = reported("vlm")
        assert (first["answers"], first["ModelRequestsWaiting"], first["tokens"]) == (True, 9.0, 1_000.0)
        assert first["tokens_per_second"] is None
        before(400.0, first["at"] - 100)
        report_server(ServerAddress("vlm", root))
    second = reported("vlm")
    assert second["tokens_per_second"] == pytest.approx(600 / (second["at"] - first["at"] + 100))


@pytest.mark.parametrize(
    ("tokens", "at"),
    [
        # A server that was started again counts from zero; a clock may have been set back.
        (5_000.0, 0.0), (400.0, 9e12), (None, 0.0), ("many", 0.0), ([1], 0.0), (400.0, "yesterday"),
    ],
)  # fmt: skip
def test_without_an_earlier_count_that_fits_there_is_no_rate(tokens: object, at: object) -> None:
    before(tokens, at)
    with server(text=counters(900, 100)) as (root, _):
        report_server(ServerAddress("vlm", root))
    assert (reported("vlm")["tokens"], reported("vlm")["tokens_per_second"]) == (1_000.0, None)


@pytest.mark.parametrize("stored", [b"not json", b"\xff\xfe", b"[1, 2]", b'"text"', b"null", b"{}"])
def test_a_stored_report_that_is_none_counts_as_no_report(stored: bytes) -> None:
    with broker.connect() as client:
        client.hset(fleet_reports.SERVERS, "vlm", stored)
        client.hset(fleet_reports.SERVERS, "llm", stored)
    with server(text=counters(900, 100)) as (root, _):
        report_server(ServerAddress("vlm", root))
    assert [row["name"] for row in fleet_reports.reports(fleet_reports.SERVERS)] == ["vlm"]
    assert [row["name"] for row in fleet_reports.reports(fleet_reports.SERVERS)] == ["vlm"]


def test_a_server_that_is_away_is_reported_as_such() -> None:
    with server() as (root, _):
        pass
    report_server(ServerAddress("vlm", root))
    found = reported("vlm")
    assert (found["answers"], found["tokens"], found["tokens_per_second"]) == (False, None, None)
    assert (found["last_error"], found["last_error_at"]) == ("ConnectError", found["at"])

    with server(text=counters(900, 100)) as (root, _):
        report_server(ServerAddress("vlm", root))
    again = reported("vlm")
    assert (again["answers"], again["last_error"], again["last_error_at"]) == (True, "ConnectError", found["at"])


def test_a_worker_reports_its_processes_by_state() -> None:
    children = tuple(ChildState(n, READY, 0.0, 0.0) for n in (2, 3))
    report_worker("gpu@one", WorkerState(1, 0.0, 0.0, 60.0, children, draining=True), ["gpu.index"])
    (found,) = fleet_reports.reports(fleet_reports.WORKERS)
    assert (found["name"], found["processes"], found["queues"], found["draining"]) == (
        "gpu@one", {READY: 2}, ["gpu.index"], True,
    )  # fmt: skip


@AWAY
def test_a_broker_that_is_away_is_logged_and_stops_no_worker(caplog: pytest.LogCaptureFixture) -> None:
    report_worker("gpu@one", WorkerState(1, 0.0, 0.0, 60.0), ["gpu.index"])
    with server(text=counters(1, 1)) as (root, _):
        report_server(ServerAddress("vlm", root))
    assert [record.getMessage() for record in caplog.records if record.name == "ava.worker"] == [
        "the worker is not reported: ConnectionError",
        "model server vlm is not reported: ConnectionError",
    ]
