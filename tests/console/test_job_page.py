"""The page of a job: plain words in groups, and the acts that its state allows."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from backend.jobs.models import Job, JobRank, JobState
from tests.conftest import Cast
from tests.questions.world import ask


@pytest.mark.parametrize(
    ("values", "offered"),
    [
        ({"state": JobState.DEAD}, ["Replay"]),
        ({"state": JobState.SUCCEEDED}, []),
        ({}, ["Cancel", "Pause", "Put first", "Put last", "Set deadline"]),
        ({"paused": True, "rank": JobRank.HIGH}, ["Cancel", "Resume", "Put back in line", "Put last", "Set deadline"]),
    ],
)
def test_the_page_offers_the_acts_that_the_state_allows(
    staff: Client, acme: Cast, values: dict[str, Any], offered: list[str]
) -> None:
    ask(acme)
    if values.pop("paused", False):
        values["paused_at"] = timezone.now()
    if "state" in values:
        values["completed_at"] = timezone.now()
    with acme.scope():
        Job.objects.update(**values)
        job = Job.objects.get()

    page = staff.get(f"/console/jobs/job/{job.id}/change/").content.decode()

    assert re.findall(r'<button name="verb" value="\w+">([^<]+)<', page) == offered
    assert ("<summary>Act</summary>" in page) == bool(offered)


def test_the_page_groups_the_fields_in_plain_words(staff: Client, acme: Cast) -> None:
    ask(acme)
    with acme.scope():
        job = Job.objects.get()

    page = staff.get(f"/console/jobs/job/{job.id}/change/").content.decode()

    words = ["What it does", "What went wrong", "When", "Who works on it", "Details", "Last sign of life", "Waits for"]
    assert [name for name in words if name not in page] == []
    assert [name for name in ("Fair tag", "Traceparent", "Rerun requested", "Heartbeat at") if name in page] == []
    assert page.index("Details") < page.index("Turn among tenants")
    assert 'id="submit-row"' not in page
