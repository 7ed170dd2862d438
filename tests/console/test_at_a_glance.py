"""What an operator must see at once: whose a failure is, how questions ended, what waits too long, what cannot help."""

from __future__ import annotations

import base64
import json
import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from backend.api.monitoring import model_reports
from backend.api.monitoring.recent_requests import Seen
from backend.billing.models import StaleHour
from backend.console.operation import charts
from backend.console.operation.charts import Series
from backend.console.operation.requests import sums
from backend.console.queries import work
from backend.console.templatetags.console import waited
from backend.jobs.models import Job, JobKind, JobState
from backend.jobs.services import enqueue
from backend.library.models import Video, VideoStatus
from backend.questions.models import Question, QuestionStatus
from backend.staff import factors
from backend.staff.models import Member
from tests.conftest import Cast
from tests.console.test_signing_in import operator, password  # noqa: F401 - a fixture
from tests.factories import make_video


def test_the_ways_in_which_questions_end_are_counted_and_charted_apart(staff: Client, acme: Cast) -> None:
    now = timezone.now()
    ends = [("answered", ""), ("answered", ""), ("insufficient_evidence", ""),
            ("insufficient_evidence", "contradicted"), ("error", "")]  # fmt: skip
    with acme.scope():
        for reason, detail in ends:
            Question.objects.create(
                tenant_id=acme.tenant_id, text="Who?", finish_reason=reason, finish_detail=detail, completed_at=now,
                status=QuestionStatus.FAILED if reason == "error" else QuestionStatus.SUCCEEDED,
            )  # fmt: skip

    page = staff.get("/console/").content.decode()

    assert "2 answered, 1 abstained, 1 contradicted, 1 failed" in page
    assert "How questions ended" in page
    (counted,) = work.outcomes(now - timedelta(hours=1), bucket="day")
    assert [counted[name] for name in ("answered", "abstained", "contradicted", "failed")] == [2, 1, 1, 1]


def test_our_failures_come_before_those_of_customers_files(acme: Cast) -> None:
    now = timezone.now()
    with acme.scope():
        for n, code in enumerate(("not_a_video", "not_a_video", "worker_lost")):
            Video.objects.create(
                tenant_id=acme.tenant_id, object_key=f"k{n}", size_bytes=1, status=VideoStatus.FAILED, error_code=code,
                failed_at=now,
            )  # fmt: skip

    assert [(line["code"], line["theirs"]) for line in work.failures(now)] == [
        ("worker_lost", False),
        ("not_a_video", True),
    ]


def test_what_no_retry_can_mend_is_not_offered_for_replay(staff: Client, acme: Cast) -> None:
    with acme.scope():
        for code in ("not_a_video", "worker_lost"):
            job = enqueue(kind=JobKind.PROBE_VIDEO, subject_id=make_video().id, dedupe_key=code)
            Job.objects.filter(id=job.id).update(
                state=JobState.DEAD, error_code=code, completed_at=timezone.now(), due=False
            )

    rows = re.findall(r"<tr><td>cpu\.probe</td>.*?</tr>", staff.get("/console/operations/").content.decode(), re.S)

    assert {("not_a_video" in row, "Replay 1" in row) for row in rows if "error_code" in row} == {
        (True, False),
        (False, True),
    }


@pytest.mark.parametrize(("wait_s", "colour"), [(None, ""), (59, ""), (61, "c-busy"), (336, "c-bad")])
def test_a_long_wait_has_a_colour(wait_s: float | None, colour: str) -> None:
    assert re.findall(r"c-(?:busy|bad)\b", waited(wait_s)) == ([colour] if colour else [])


def test_a_role_without_a_model_is_not_called_usable(staff: Client) -> None:
    model_reports.publish({"entailer": {"model": "", "usable": True}})

    page = staff.get("/console/operations/").content.decode()

    assert re.search(r"<td>entailer</td><td>–</td><td><span class=\"c-badge\">not set up</span>", page)


def test_refused_and_failed_requests_are_counted_apart() -> None:
    lines = [Seen(0, "req", "GET", "/v1/videos", status, 5) for status in (200, 404, 429, 500)]

    (line,) = sums(lines)

    assert (line.requests, line.refused, line.failed) == (4, 2, 1)


def test_a_single_day_is_drawn_as_a_point() -> None:
    (one,) = json.loads(charts.lines(["1 May"], [Series("p50", [3.0])], unit="s").data)["datasets"]
    (two,) = json.loads(charts.lines(["1 May", "2 May"], [Series("p50", [3.0, 4.0])], unit="s").data)["datasets"]

    assert one["pointRadius"] == 4
    assert "pointRadius" not in two


def test_revenue_says_what_it_does_not_count_yet(staff: Client, acme: Cast) -> None:
    assert "is not counted yet" not in staff.get("/console/").content.decode()
    with acme.scope():
        StaleHour.objects.create(tenant_id=acme.tenant_id, hour=timezone.now())

    assert "is not counted yet" in staff.get("/console/").content.decode()


def test_an_empty_list_is_said_in_words(staff: Client) -> None:
    page = staff.get("/console/questions/question/").content.decode()

    assert "There is no question." in page
    assert "yielded" not in page


def test_acts_that_end_something_stand_apart(staff: Client, acme: Cast) -> None:
    page = staff.get(f"/console/tenancy/tenant/{acme.tenant_id}/change/").content.decode()

    every, ending = re.findall(r'<nav class="c-buttons[^>]*>(.*?)</nav>', page, re.S)[:2]
    assert "Erase" not in every
    assert re.findall(r">(\w+)</a>", ending) == ["Suspend", "Erase"]


def test_a_new_factor_has_a_code_for_the_camera(operator: Member) -> None:  # noqa: F811
    client = Client()
    password(client)

    page = client.get("/console/second-factor/").content.decode()

    (drawn,) = re.findall(r'<img src="data:image/svg\+xml;base64,([^"]+)"', page)
    secret = re.findall(r"<code>([A-Z2-7]{32})</code>", page)[0]
    assert factors.qr_code(factors.uri(secret, operator.person.email)).endswith(drawn)
    assert b"<svg" in base64.b64decode(drawn)
    assert "have permission" not in page
