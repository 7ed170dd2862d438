"""An outage ends without a job: workers try what no job has tried, so an idle system does not stay away for ever."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from backend.jobs import breakers
from backend.jobs.models import Breaker
from backend.library.storage import ObjectStorage, StorageAway
from gpu_workers.tasks.idle_outages import try_idle_dependencies

pytestmark = pytest.mark.usefixtures("acme")


def away_for_minutes(*dependencies: str) -> None:
    for dependency in dependencies:
        breakers.opened(dependency, code="gone", message="no answer")
    Breaker.objects.using("dispatch").update(probe_at=timezone.now() - timedelta(minutes=2))


def states() -> dict[str, str]:
    return {row.dependency: row.state for row in breakers.breakers()}


def test_what_answers_again_is_closed_though_no_job_needs_it() -> None:
    away_for_minutes("reasoner", "describer", "checker", "embedder:text", "storage")
    try_idle_dependencies()
    assert set(states().values()) == {"closed"}


def test_what_is_still_away_stays_open_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def silent(_: ObjectStorage) -> None:
        raise StorageAway("no answer from the bucket")

    monkeypatch.setattr(ObjectStorage, "ping", silent)
    monkeypatch.setenv("REASONER_URL", "http://127.0.0.1:9/v1")
    away_for_minutes("reasoner", "describer", "storage")
    try_idle_dependencies()

    assert states() == {"reasoner": "open", "describer": "closed", "storage": "open"}
    failures = {row.dependency: row.failures for row in breakers.breakers()}
    assert (failures["reasoner"], failures["storage"]) == (2, 2)
    messages = {row.dependency: row.error_message for row in breakers.breakers()}
    assert messages["storage"] == "no answer from the bucket"
