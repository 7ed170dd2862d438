"""POST /v1/questions:estimate with a question: its route, if the caller names one, and what a scan takes."""

from __future__ import annotations

from typing import Any

import pytest

from backend.api.public_ids import encode
from tests.conftest import Cast
from tests.ekg.recorded import record


def estimated(cast: Cast, **body: Any) -> Any:
    return cast.client.post("/v1/questions:estimate", body, format="json")


def test_without_a_scope_nothing_is_said_of_a_route(acme: Cast) -> None:
    body = estimated(acme).json()
    assert (body["route"], body["certain"], body["scan"]) == (None, None, None)


def test_a_price_is_known_before_the_question_is_written(acme: Cast) -> None:
    video_ids = [encode("vid", record(acme).video_id)]
    before, after = (estimated(acme, video_ids=video_ids, **more).json() for more in ({}, {"question": "Who eats?"}))
    assert before == after
    assert (before["certain"], before["scan"]["calls"]) == (False, 1)
    assert before["charge"] == estimated(acme).json()["charge"]


def test_a_question_that_is_yet_to_be_read_has_no_route_and_the_price_of_a_scan(acme: Cast) -> None:
    video_id = encode("vid", record(acme).video_id)
    body = estimated(acme, question="What does the man wear?", video_ids=[video_id]).json()
    assert (body["route"], body["certain"], body["scan"]["calls"]) == (None, False, 1)
    narrow = estimated(acme, question="What does he wear?", video_ids=[video_id], start_ms=0, end_ms=4_000).json()
    assert narrow["scan"]["prompt_tokens"] < body["scan"]["prompt_tokens"]
    paper = estimated(acme, question="What does he wear?", video_ids=[video_id], effort="paper").json()
    assert (paper["route"], paper["certain"], paper["scan"]) == ("search", True, None)


def test_a_route_that_is_wished_for_is_the_one_that_is_estimated(acme: Cast) -> None:
    video_ids = [encode("vid", record(acme).video_id)]
    wished = estimated(acme, question="What does the man wear?", video_ids=video_ids, route="scan").json()
    assert (wished["route"], wished["certain"], wished["scan"]["calls"]) == ("scan", True, 1)
    other = estimated(acme, question="How often does he eat?", video_ids=video_ids, method="vector").json()
    assert (other["route"], other["scan"]) == (None, None)


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"question": "How often does he eat?"}, ("", "scope_required")),
        ({"start_ms": 5}, ("", "scope_required")),
        ({"route": "scan", "method": "vector"}, ("/route", "route_not_applicable")),
    ],
)
def test_half_a_question_is_refused(acme: Cast, body: dict[str, Any], error: tuple[str, str]) -> None:
    reply = estimated(acme, **body)
    assert reply.status_code == 400
    assert [(each["pointer"], each["code"]) for each in reply.json()["errors"]] == [error]


def test_a_foreign_video_is_answered_like_an_unknown_one(acme: Cast, globex: Cast) -> None:
    own, foreign = (encode("vid", record(cast).video_id) for cast in (acme, globex))
    for asked in ({"question": "How often does somebody eat?"}, {}):
        replies = [estimated(acme, **asked, video_ids=[id]) for id in (foreign, encode("vid", acme.tenant_id))]
        assert [reply.status_code for reply in replies] == [400, 400]
        assert replies[0].json()["errors"] == replies[1].json()["errors"]
        assert estimated(acme, **asked, video_ids=[own]).status_code == 200
