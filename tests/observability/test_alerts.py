"""Alert rules and dashboards parse and name only metrics and labels that exist, and each alert has a runbook."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import promql_parser as promql
import pytest
import yaml
from prometheus_client import REGISTRY, Metric

import gpu_workers.engine.models.call_metrics  # noqa: F401 - its metrics are in the registry
import workers.observed_job  # noqa: F401
from infra.observability.__main__ import CHECKS
from infra.observability.promtool import PROJECT, NoPromtool, ensure_promtool
from workers.metrics.process_gauges import ProcessGauges
from workers.metrics.queue_gauges import QueueGauges

FOLDER = PROJECT / "infra" / "observability"
RULES = [
    rule for group in yaml.safe_load((FOLDER / "alerts.yml").read_text())["groups"] for rule in group["rules"]
]  # fmt: skip
DASHBOARDS = sorted((FOLDER / "dashboards").glob("*.json"))
RUNBOOK = PROJECT / "docs" / "runbooks" / "alerts.md"
BY_PROMETHEUS = {"up": {"service"}}
"""Metrics that Prometheus makes itself, with the labels that its configuration gives them."""
BY_NODE_EXPORTER: dict[str, set[str]] = {
    "node_filesystem_avail_bytes": {"fstype", "mountpoint", "device"},
    "node_filesystem_size_bytes": {"fstype", "mountpoint", "device"},
    "node_memory_MemAvailable_bytes": set(),
    "node_memory_MemTotal_bytes": set(),
}
"""Metrics of the exporter in the compose profile observability, with its labels."""
BY_OTHERS: dict[str, set[str]] = {
    "pg_stat_user_tables_n_dead_tup": {"datname", "schemaname", "relname"},
    "pg_stat_user_tables_n_live_tup": {"datname", "schemaname", "relname"},
    "pg_database_wraparound_age_datfrozenxid_seconds": {"datname"},
    "redis_up": set(),
    "redis_memory_used_bytes": set(),
    "redis_memory_max_bytes": set(),
    "redis_rejected_connections_total": set(),
    "probe_ssl_earliest_cert_expiry": set(),
}
"""Metrics of the exporters of PostgreSQL, of Valkey and of certificates, as their programs print them."""
BY_SCRAPE = {"service", "instance"}
SUFFIXES = {"counter": ("_total",), "histogram": ("_bucket", "_count", "_sum"), "gauge": ("",)}


def expressions() -> Iterator[tuple[str, str]]:
    for rule in RULES:
        yield rule["alert"], rule["expr"]
    for file in DASHBOARDS:
        for panel in json.loads(file.read_text())["panels"]:
            for target in panel["targets"]:
                yield f"{file.stem}: {panel['title']}", target["expr"]


def exported() -> dict[str, set[str]]:
    """Return the labels of each series that API, relay and workers export."""
    found = {**BY_PROMETHEUS, **BY_NODE_EXPORTER, **BY_OTHERS}
    for collector in list(REGISTRY._collector_to_names):
        names = getattr(collector, "_labelnames", None)
        if names is None or not collector._name.startswith("ava_"):  # type: ignore[attr-defined]
            continue
        for family in collector.describe():
            _add(found, family, set(names))
    return found


def _add(found: dict[str, set[str]], family: Metric, labels: set[str]) -> None:
    for suffix in SUFFIXES[family.type]:
        found[family.name + suffix] = labels | ({"le"} if suffix == "_bucket" else set()) | BY_SCRAPE


def selectors(expression: str) -> list[tuple[str, set[str]]]:
    """Return each selector of an expression, with the labels that it matches. Raises ValueError for a fault."""
    promql.parse(expression)
    return [
        (name, set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)\s*\"", labels or "")))
        for name, labels in re.findall(r"\b((?:ava|node|pg|redis|probe)_\w+|up\b)(?:\{([^}]*)\})?", expression)
    ]


@pytest.mark.usefixtures("database")
def test_rules_and_dashboards_name_only_what_is_exported() -> None:
    known = exported()
    for gauges in (QueueGauges(), ProcessGauges()):
        for family in gauges.collect():
            _add(known, family, set(family._labelnames))  # type: ignore[attr-defined]
    for place, expression in expressions():
        found = selectors(expression)
        assert found, place
        for name, labels in found:
            assert name in known, f"{place}: {name}"
            assert labels <= known[name], f"{place}: {name} has no label {labels - known[name]}"


def test_every_grouping_uses_labels_of_its_metrics() -> None:
    every = {"service", "instance", "le", "queue", "kind", "how", "outcome", "dependency", "code", "stage", "work",
             "model", "ok", "direction", "state", "method", "route", "status", "invariant", "datname"}  # fmt: skip
    for place, expression in expressions():
        for group in re.findall(r"\bby \(([^)]*)\)", expression):
            assert {name.strip() for name in group.split(",")} <= every, place


def test_each_alert_has_its_section_in_the_runbook() -> None:
    sections = re.findall(r"^## (\w+)$", RUNBOOK.read_text(), re.MULTILINE)

    assert sections == [rule["alert"] for rule in RULES]
    for rule in RULES:
        assert rule["annotations"]["runbook"] == f"docs/runbooks/alerts.md#{rule['alert'].lower()}"
        assert rule["labels"]["severity"] in ("page", "ticket")


@pytest.mark.parametrize("dashboard", DASHBOARDS, ids=lambda path: path.stem)
def test_a_dashboard_has_panels_that_do_not_overlap(dashboard: Path) -> None:
    board = json.loads(dashboard.read_text())
    corners = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in board["panels"]]

    assert board["uid"] == f"ava-{dashboard.stem}"
    assert len(set(corners)) == len(corners)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: "-".join(check[:2]))
def test_promtool_accepts_the_rules_and_their_tests_pass(check: tuple[str, ...]) -> None:
    try:
        promtool = ensure_promtool()
    except NoPromtool as error:
        pytest.skip(str(error))
    done = subprocess.run([promtool, *check], cwd=PROJECT, capture_output=True, text=True)

    assert done.returncode == 0, done.stdout + done.stderr


def test_each_alert_has_a_case_in_which_it_fires() -> None:
    groups = yaml.safe_load((PROJECT / CHECKS[-1][-1]).read_text())["tests"]
    cases = [case for group in groups for case in group.get("alert_rule_test", [])]

    assert {case["alertname"] for case in cases if case["exp_alerts"]} == {rule["alert"] for rule in RULES}


@pytest.mark.long
def test_a_rule_that_does_not_fire_fails_its_test(tmp_path: Path) -> None:
    """The tests of the rules can fail: with another limit they do."""
    try:
        promtool = ensure_promtool()
    except NoPromtool as error:
        pytest.skip(str(error))
    changed = (FOLDER / "alerts.yml").read_text().replace('{queue="gpu.query"}) > 60', '{queue="gpu.query"}) > 6000')
    (tmp_path / "alerts.yml").write_text(changed)
    tests = (PROJECT / CHECKS[-1][-1]).read_text().replace("../../infra/observability/alerts.yml", "alerts.yml")
    (tmp_path / "alerts_test.yml").write_text(tests)
    command = [promtool, "test", "rules", "alerts_test.yml"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    assert done.returncode == 1
    assert "alertname: QuestionsWait" in done.stdout + done.stderr


def test_prometheus_finds_every_service_of_compose_that_serves_metrics() -> None:
    services = yaml.safe_load((PROJECT / "infra" / "compose.yaml").read_text())["services"]
    jobs = {job["job_name"]: job for job in yaml.safe_load((FOLDER / "prometheus.yml").read_text())["scrape_configs"]}
    scraped = jobs["ava"]["dns_sd_configs"][0]
    stay = {
        name
        for name, service in services.items()
        if "AVA_METRICS_ADDRESS" in service.get("environment", {}) and service["restart"] != "no"
    }
    assert set(scraped["names"]) == stay
    assert {services[name]["environment"]["AVA_METRICS_ADDRESS"] for name in stay} == {f"0.0.0.0:{scraped['port']}"}
    assert set(jobs["models"]["dns_sd_configs"][0]["names"]) == {name for name in services if name.startswith("vllm-")}
    assert jobs["node"]["dns_sd_configs"][0]["names"][0] in services
