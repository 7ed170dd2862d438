"""Two people who change the same thing: who has read an older state gets 412, and nothing is overwritten.

The routes come from openapi.yaml, so a new PATCH or PUT is tested from its first day or has a reason in WITHOUT.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import yaml
from django.db import connections
from django.utils import timezone
from rest_framework.test import APIClient

from backend.api.public_ids import encode
from backend.library.indexing import follow_ups
from backend.webhooks.services import create_endpoint
from tests.conftest import Cast
from tests.ekg.recorded import record
from tests.factories import make_video
from tests.people.cast import member_of

Change = dict[str, Any]
# Path -> two changes, each of which makes another state than the one before.
CHANGES: dict[str, tuple[Change, Change]] = {
    "/v1/allowed-origins": ({"origins": ["https://a.example"]}, {"origins": ["https://b.example"]}),
    "/v1/api-keys/{key_id}": ({"name": "first"}, {"name": "second"}),
    "/v1/billing-account": ({"city": "Kiel"}, {"city": "Bonn"}),
    "/v1/budget": ({"max_tokens": 10}, {"max_tokens": 20}),
    "/v1/collections/{collection_id}": ({"name": "first"}, {"name": "second"}),
    "/v1/index-jobs/{job_id}": ({"priority": "high"}, {"priority": "low"}),
    "/v1/members/{member_id}": ({"role": "viewer"}, {"role": "developer"}),
    "/v1/notice-address": ({"email": "first@example.org"}, {"email": "second@example.org"}),
    "/v1/retention": ({"questions_days": 40}, {"questions_days": 50}),
    "/v1/sign-in-settings": ({"require_second_factor": True}, {"require_second_factor": False}),
    "/v1/videos/{video_id}": ({"title": "first"}, {"title": "second"}),
    "/v1/webhook-endpoints/{endpoint_id}": ({"description": "first"}, {"description": "second"}),
}
WITHOUT = {
    "/v1/budgets": "the body names the key whose limits are replaced as a whole",
    "/v1/questions/{question_id}": "an order to the scheduler: the last one counts",
    "/v1/question-batches/{batch_id}": "an order to the scheduler: the last one counts",
    "/v1/questions/{question_id}/feedback": "the caller's own verdict",
}
OPERATIONS: dict[str, dict[str, Any]] = yaml.load(
    Path("frontend_api_schema/openapi.yaml").read_text(), Loader=yaml.CSafeLoader
)["paths"]
METHODS = {path: method for path, every in OPERATIONS.items() for method in ("patch", "put") if method in every}


def test_each_change_is_conditional_or_has_a_reason() -> None:
    assert METHODS.keys() == CHANGES.keys() | WITHOUT.keys()


@pytest.mark.parametrize("path", CHANGES)
def test_the_document_names_the_header_and_the_refusal(path: str) -> None:
    operation = OPERATIONS[path][METHODS[path]]
    assert "If-Match" in [parameter["name"] for parameter in operation["parameters"]]
    assert "412" in operation["responses"]


@pytest.fixture
def address_of(acme: Cast) -> Callable[[str], str]:
    """Return the path of a thing of acme that this path names."""

    def address(path: str) -> str:
        video = record(acme).video_id
        with acme.scope():
            indexing = make_video(duration_ms=60_000, index_started_at=timezone.now())
            follow_ups.enqueue_assembly(indexing.id, 1)
            endpoint, _ = create_endpoint(url="https://example.com/hook")
        collection = acme.client.post("/v1/collections", {"name": "Park"}).json()["id"]
        ids: dict[str, str | tuple[str, UUID]] = {
            "{key_id}": ("key", acme.key_id),
            "{collection_id}": collection,
            "{job_id}": ("job", indexing.id),
            "{video_id}": ("vid", video),
            "{member_id}": ("mem", member_of(acme, "billing").id),
            "{endpoint_id}": ("whe", endpoint.id),
        }
        for name, id in ids.items():
            path = path.replace(name, id if isinstance(id, str) else encode(*id))
        return path

    return address


def change(client: APIClient, method: str, path: str, body: Change, tag: str) -> Any:
    return getattr(client, method)(path, body, HTTP_IF_MATCH=tag)


def state(reply: Any) -> str:
    """Return what a change would overwrite: the first part of the ETag."""
    first: str = reply.headers["ETag"].strip('"').partition("-")[0]
    return first


@pytest.mark.parametrize("path", CHANGES)
def test_a_read_is_304_until_something_changes(path: str, acme: Cast, address_of: Callable[[str], str]) -> None:
    method, at, (first, _) = METHODS[path], address_of(path), CHANGES[path]
    acme.client.get(at)
    read = acme.client.get(at)
    tag = read.headers["ETag"]

    for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        same = acme.client.get(at, HTTP_IF_NONE_MATCH=known)
        assert (same.status_code, same.content, same.headers["ETag"]) == (304, b"", tag)
        assert "Content-Type" not in same.headers
        assert {"RateLimit", "X-Request-Id"} <= set(same.headers)
    assert change(acme.client, method, at, first, tag).status_code == 200
    news = acme.client.get(at, HTTP_IF_NONE_MATCH=tag)
    assert (news.status_code, news.json()[next(iter(first))]) == (200, next(iter(first.values())))
    assert news.headers["ETag"] != tag


def test_progress_is_news_and_not_a_change(acme: Cast) -> None:
    with acme.scope():
        video = make_video(duration_ms=60_000)
    at = f"/v1/videos/{encode('vid', video.id)}"
    before, listed = acme.client.get(at), acme.client.get("/v1/videos")
    with acme.scope():
        type(video).objects.filter(id=video.id).update(indexed_until_ms=30_000)

    after = acme.client.get(at, HTTP_IF_NONE_MATCH=before.headers["ETag"])
    assert (after.status_code, after.json()["indexed_until_ms"]) == (200, 30_000)
    assert state(after) == state(before)
    assert acme.client.get("/v1/videos", HTTP_IF_NONE_MATCH=listed.headers["ETag"]).status_code == 200
    renamed = change(acme.client, "patch", at, {"title": "Gate"}, before.headers["ETag"])
    assert (renamed.status_code, renamed.json()["title"]) == (200, "Gate")


def test_the_reply_to_a_change_is_never_304(acme: Cast) -> None:
    read = acme.client.get("/v1/retention")
    same = acme.client.patch("/v1/retention", {"questions_days": 40}, HTTP_IF_NONE_MATCH="*")
    assert (same.status_code, same.headers["ETag"] != read.headers["ETag"]) == (200, True)


def test_a_foreign_thing_is_unknown_whatever_tag_is_sent(acme: Cast, globex: Cast) -> None:
    with acme.scope():
        video = make_video()
    at = f"/v1/videos/{encode('vid', video.id)}"
    assert globex.client.get(at, HTTP_IF_NONE_MATCH="*").status_code == 404
    assert globex.client.get(at, HTTP_IF_NONE_MATCH=acme.client.get(at).headers["ETag"]).status_code == 404


@pytest.mark.parametrize("path", CHANGES)
def test_a_change_of_an_older_state_is_refused_and_changes_nothing(
    path: str, acme: Cast, address_of: Callable[[str], str]
) -> None:
    method, at, (first, second) = METHODS[path], address_of(path), CHANGES[path]
    read, again = acme.client.get(at), acme.client.get(at)
    assert state(read) == state(again), "reading is no change"

    changed = change(acme.client, method, at, first, read.headers["ETag"])
    refused = change(acme.client, method, at, second, read.headers["ETag"])
    shown = acme.client.get(at)

    assert changed.status_code == 200
    assert state(changed) == state(shown) != state(read)
    assert (refused.status_code, refused.json()["code"]) == (412, "version_mismatch")
    assert state(refused) == state(shown)
    assert {name: shown.json()[name] for name in first} == first
    assert change(acme.client, method, at, second, f'"other", {shown.headers["ETag"]}').status_code == 200
    assert change(acme.client, method, at, first, "*").status_code == 200
    assert getattr(acme.client, method)(at, second).status_code == 200


@pytest.mark.parametrize("path", ["/v1/collections/{collection_id}", "/v1/budget", "/v1/billing-account"])
def test_of_ten_editors_of_one_state_one_is_heard(path: str, acme: Cast, address_of: Callable[[str], str]) -> None:
    method, at, (first, _) = METHODS[path], address_of(path), CHANGES[path]
    (name, value), *_ = first.items()
    tag = acme.client.get(at).headers["ETag"]

    def edit(n: int) -> Any:
        try:
            return change(acme.client, method, at, {name: n + 1 if isinstance(value, int) else f"by {n}"}, tag)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(10) as editors:
        replies = list(editors.map(edit, range(10)))

    assert sorted(reply.status_code for reply in replies) == [200, *[412] * 9]
    (heard,) = (reply for reply in replies if reply.status_code == 200)
    assert acme.client.get(at).json()[name] == heard.json()[name]


@pytest.mark.parametrize("path", [path for path in CHANGES if "{" in path])
def test_a_foreign_id_is_unknown_before_any_tag_is_compared(
    path: str, globex: Cast, address_of: Callable[[str], str]
) -> None:
    reply = change(globex.client, METHODS[path], address_of(path), CHANGES[path][0], '"other"')
    assert (reply.status_code, "ETag" in reply.headers) == (404, False)
