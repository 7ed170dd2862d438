"""GET /v1/methods: what each method does and needs, and whether the models here can run it; no other takes a check."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import redis
from django.conf import settings
from django.test import override_settings

from backend.api.monitoring import model_reports
from backend.api.public_ids import encode
from backend.questions.models import Question
from backend.tenancy.services import issue_api_key
from gpu_workers.engine.answering.methods import METHODS
from tests.conftest import Cast
from tests.factories import make_video

REPORTS: dict[str, dict[str, Any]] = {
    role: {"runs": "served", "model": role, "window": None, "abilities": [], "usable": True}
    for role in ("reasoner", "checker", "text_embedder", "frame_embedder")
}


@pytest.fixture(autouse=True)
def _no_reports() -> Iterator[None]:
    def forget() -> None:
        with redis.Redis.from_url(settings.REDIS_URL) as client:
            client.delete("ava:models")

    forget()
    yield
    forget()


def methods(cast: Cast) -> dict[str, dict[str, Any]]:
    reply = cast.client.get("/v1/methods")
    assert reply.status_code == 200, reply.content
    return {row["name"]: row for row in reply.json()["data"]}


def test_every_method_is_described(acme: Cast) -> None:
    model_reports.publish(REPORTS)
    shown = methods(acme)

    assert list(shown) == list(METHODS)
    for name, method in METHODS.items():
        row = shown[name]
        assert (row["version"], row["description"], row["needs"]) == (
            method.version,
            method.description,
            sorted(method.needs),
        )
        assert "\n" not in row["description"]
        assert row["efforts"] == ["low", "medium", "high", "paper"]
        calls = {entry["effort"]: (entry["least"], entry["most"]) for entry in row["typical_calls"]}
        assert calls == dict(method.typical_calls)
        assert (row["usable"], row["obstacles"]) == (True, [])


def test_a_method_whose_model_does_not_answer_says_so_and_the_others_stay(acme: Cast) -> None:
    model_reports.publish({**REPORTS, "checker": {**REPORTS["checker"], "usable": False}})
    shown = methods(acme)

    with_looks = {name for name, method in METHODS.items() if "checker" in method.needs}
    assert {name for name, row in shown.items() if row["usable"] is False} == with_looks
    assert {name for name, row in shown.items() if row["usable"]} == METHODS.keys() - with_looks
    (obstacle,) = shown["uniform"]["obstacles"]
    assert obstacle["code"] == "model_unavailable"
    assert "checker" in obstacle["message"]


def test_without_a_reasoner_no_method_is_usable(acme: Cast) -> None:
    model_reports.publish({name: report for name, report in REPORTS.items() if name != "reasoner"})
    assert {row["usable"] for row in methods(acme).values()} == {False}


def test_a_report_of_another_version_leaves_the_methods_unusable_and_readable(acme: Cast) -> None:
    model_reports.publish({"reasoner": {"model": "b"}})
    assert {row["usable"] for row in methods(acme).values()} == {False}


def test_before_a_worker_has_reported_nobody_knows(acme: Cast) -> None:
    assert {(row["usable"], len(row["obstacles"])) for row in methods(acme).values()} == {(None, 0)}


def test_without_redis_the_methods_are_still_described() -> None:
    from backend.questions.queries.methods import methods as read

    with override_settings(REDIS_URL="redis://127.0.0.1:9/0"):
        assert {view.usable for view in read()} == {None}


def test_it_needs_the_scope_of_reading_questions(acme: Cast) -> None:
    with acme.scope():
        _, secret = issue_api_key(name="videos", scopes=["videos:read"])
    client = acme.client
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    assert client.get("/v1/methods").status_code == 403


@pytest.mark.parametrize("method", sorted(METHODS))
@pytest.mark.parametrize("check", ["off", "frames", "inspect", "auto"])
def test_only_ava_takes_a_check(acme: Cast, method: str, check: str) -> None:
    with acme.scope():
        video = encode("vid", make_video(indexed_until_ms=30_000).id)
    body = {"question": "Who?", "video_ids": [video], "method": method, "check": check}
    reply = acme.client.post("/v1/questions", body, format="json")

    if method == "ava" or check == "auto":
        assert reply.status_code == 202, reply.content
        return
    assert reply.status_code == 400
    assert [(e["pointer"], e["code"]) for e in reply.json()["errors"]] == [("/check", "check_not_applicable")]
    batch = acme.client.post("/v1/question-batches", {"questions": [{**body}]}, format="json")
    assert [(e["pointer"], e["code"]) for e in batch.json()["errors"]] == [
        ("/questions/0/check", "check_not_applicable")
    ]
    with acme.scope():
        assert not Question.objects.exists()
