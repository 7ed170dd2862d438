"""Keys open exactly what their scopes name, as long as they live, and a refusal reveals nothing."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import override_settings
from django.utils import timezone
from rest_framework.test import APIClient

from backend.api.models import IdempotencyRecord
from backend.api.public_ids import decode, encode
from backend.settings import KEY_PEPPERS
from backend.tenancy import keys
from backend.tenancy.models import ApiKey, Tenant
from backend.tenancy.services import issue_api_key
from tests.conftest import Cast


def with_key(text: str) -> Any:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
    return client


def refused(text: str) -> dict[str, Any]:
    response = with_key(text).get("/v1/videos")
    assert response.status_code == 401, response.content
    body: dict[str, Any] = response.json()
    del body["request_id"]
    return body


def test_a_key_has_the_shape_that_secret_scanners_know() -> None:
    made = keys.generate()

    assert len(made.text) == len("vk_live_") + 10 + 1 + 32 + 6
    assert keys.parse(made.text) == made
    assert made.text.startswith(f"vk_live_{made.public_id}_")
    flipped = made.text[:-7] + ("A" if made.text[-7] != "A" else "B") + made.text[-6:]
    assert keys.parse(flipped) is None


def test_unknown_wrong_ended_and_suspended_are_refused_in_the_same_words(acme: Cast, globex: Cast) -> None:
    unknown = keys.generate().text
    with acme.scope():
        _, revoked = issue_api_key(name="revoked", scopes=["*"])
        ApiKey.objects.filter(name="revoked").update(revoked_at=timezone.now())
        _, expired = issue_api_key(name="expired", scopes=["*"], expires_at=timezone.now() - timedelta(seconds=1))
        row, original = issue_api_key(name="stolen id", scopes=["*"])
    body = f"vk_live_{row.public_id}_{'0' * 32}"
    wrong_secret = body + keys.checksum(body)
    assert with_key(original).get("/v1/videos").status_code == 200
    with globex.scope():
        Tenant.objects.filter(id=globex.tenant_id).update(suspended_at=timezone.now())

    answers = [refused(text) for text in (unknown, revoked, expired, wrong_secret, globex.key, "nonsense", "")]

    assert all(answer == answers[0] for answer in answers)
    assert answers[0]["code"] == "invalid_api_key"


def test_a_key_can_come_in_its_own_header(acme: Cast) -> None:
    assert APIClient().get("/v1/videos", HTTP_X_API_KEY=acme.key).status_code == 200


def test_a_key_does_what_its_scopes_say_and_nothing_else(acme: Cast) -> None:
    with acme.scope():
        _, text = issue_api_key(name="reader", scopes=["videos:read"])
    client = with_key(text)

    assert client.get("/v1/videos").status_code == 200
    denied = client.post("/v1/collections", {"name": "x"})
    assert (denied.status_code, denied.json()["code"]) == (403, "insufficient_scope")
    assert client.get("/v1/api-keys").status_code == 403
    assert acme.client.get("/v1/collections").json()["data"] == []


def test_only_a_digest_of_a_key_is_kept_and_a_new_pepper_leaves_old_keys_working(acme: Cast) -> None:
    with override_settings(KEY_PEPPERS={**KEY_PEPPERS, 9: "newer"}), acme.scope():
        key, text = issue_api_key(name="new", scopes=["videos:read"])
        assert key.pepper_id == 9
        assert text.encode() not in bytes(key.digest)
        assert len(key.digest) == 32
    with override_settings(KEY_PEPPERS={**KEY_PEPPERS, 9: "newer"}):
        assert with_key(text).get("/v1/videos").status_code == 200
        assert acme.client.get("/v1/videos").status_code == 200
    assert refused(text)["code"] == "invalid_api_key"


def test_use_is_noted_once_a_minute(acme: Cast) -> None:
    def used() -> Any:
        with acme.scope():
            return ApiKey.objects.get(id=acme.key_id).last_used_at

    acme.client.get("/v1/videos")
    first = used()
    acme.client.get("/v1/videos")
    assert first is not None
    assert used() == first
    with acme.scope():
        ApiKey.objects.filter(id=acme.key_id).update(last_used_at=first - timedelta(minutes=2))
    acme.client.get("/v1/videos")
    assert used() > first


def test_a_key_is_shown_once_when_it_is_made(acme: Cast) -> None:
    made = acme.client.post("/v1/api-keys", {"name": "ci", "scopes": ["videos:read", "questions:read"]})

    assert made.status_code == 201
    assert made.headers["Cache-Control"] == "no-store"
    body = made.json()
    assert with_key(body["key"]).get("/v1/videos").status_code == 200
    again = acme.client.get(made.headers["Location"]).json()
    assert "key" not in again
    assert body["key"].startswith(again["hint"])
    assert body["key"] not in acme.client.get("/v1/api-keys").content.decode()


def test_a_key_cannot_give_scopes_that_it_lacks(acme: Cast) -> None:
    with acme.scope():
        _, text = issue_api_key(name="keeper", scopes=["keys:write", "videos:read"])
        before = ApiKey.objects.count()
    client = with_key(text)

    beyond = client.post("/v1/api-keys", {"name": "x", "scopes": ["videos:read", "videos:write", "*"]})
    rotation = client.post(f"/v1/api-keys/{encode('key', acme.key_id)}/rotate", {})

    assert (beyond.status_code, beyond.json()["code"]) == (403, "insufficient_scope")
    assert [error["pointer"] for error in beyond.json()["errors"]] == ["/scopes/1", "/scopes/2"]
    assert (rotation.status_code, rotation.json()["code"]) == (403, "insufficient_scope")
    with acme.scope():
        assert ApiKey.objects.count() == before


def test_revoking_works_from_the_next_request_on(acme: Cast) -> None:
    made = acme.client.post("/v1/api-keys", {"name": "ci", "scopes": ["videos:read"]}).json()

    assert acme.client.delete(f"/v1/api-keys/{made['id']}").status_code == 204

    assert refused(made["key"])["code"] == "invalid_api_key"
    assert acme.client.get(f"/v1/api-keys/{made['id']}").json()["revoked_at"] is not None
    ended = acme.client.post(f"/v1/api-keys/{made['id']}/rotate", {})
    assert (ended.status_code, ended.json()["code"]) == (409, "key_ended")


def test_rotation_gives_a_successor_and_lets_the_old_key_overlap(acme: Cast) -> None:
    made = acme.client.post("/v1/api-keys", {"name": "ci", "scopes": ["videos:read"]}).json()

    successor = acme.client.post(f"/v1/api-keys/{made['id']}/rotate", {"overlap_seconds": 60}).json()

    assert (successor["name"], successor["scopes"]) == ("ci", ["videos:read"])
    for text in (made["key"], successor["key"]):
        assert with_key(text).get("/v1/videos").status_code == 200
    acme.client.post(f"/v1/api-keys/{successor['id']}/rotate", {"overlap_seconds": 0})
    assert refused(successor["key"])["code"] == "invalid_api_key"
    with acme.scope():
        old = ApiKey.objects.get(id=decode("key", made["id"]))
        assert timedelta(0) < old.expires_at - timezone.now() <= timedelta(seconds=60)


def limited(cast: Cast, **limits: Any) -> tuple[ApiKey, Any]:
    """A key that manages keys and reads videos, with a client that uses it."""
    with cast.scope():
        key, text = issue_api_key(name="limited", scopes=["keys:write", "videos:read"], **limits)
    return key, with_key(text)


def test_a_key_never_outlives_its_maker(acme: Cast) -> None:
    end = timezone.now() + timedelta(minutes=2)
    key, client = limited(acme, expires_at=end)
    body = {"name": "child", "scopes": ["videos:read"]}

    made = client.post("/v1/api-keys", body).json()
    later = client.post("/v1/api-keys", {**body, "expires_at": (end + timedelta(seconds=1)).isoformat()})
    with acme.scope():
        ApiKey.objects.filter(id=key.id).update(created_at=timezone.now() - timedelta(days=30))
    renewed = client.post(f"/v1/api-keys/{encode('key', key.id)}/rotate", {"overlap_seconds": 600}).json()

    ends = {decode("key", made["id"]), decode("key", renewed["id"]), key.id}
    with acme.scope():
        assert {ApiKey.objects.get(id=id).expires_at for id in ends} == {end}
        assert ApiKey.objects.count() == 4
    assert made["created_by"] == renewed["created_by"] == encode("key", key.id)
    assert (later.status_code, later.json()["code"]) == (403, "beyond_maker")
    assert later.json()["errors"][0]["pointer"] == "/expires_at"


def test_a_key_passes_on_its_networks_and_its_limit(acme: Cast) -> None:
    _, client = limited(acme, allowed_ips=["127.0.0.0/8"], requests_per_minute=100)
    body = {"name": "child", "scopes": ["videos:read"]}

    plain = client.post("/v1/api-keys", body).json()
    narrow = client.post("/v1/api-keys", {**body, "allowed_ips": ["127.0.0.1"], "requests_per_minute": 7}).json()
    wide = [
        client.post("/v1/api-keys", {**body, **limit}).json()
        for limit in ({"allowed_ips": ["10.0.0.1"]}, {"requests_per_minute": 101}, {"allowed_ips": ["::/0"]})
    ]

    assert (plain["allowed_ips"], plain["requests_per_minute"]) == (["127.0.0.0/8"], 100)
    assert (narrow["allowed_ips"], narrow["requests_per_minute"]) == (["127.0.0.1/32"], 7)
    assert [(reply["code"], reply["errors"][0]["pointer"]) for reply in wide] == [
        ("beyond_maker", "/allowed_ips"), ("beyond_maker", "/requests_per_minute"), ("beyond_maker", "/allowed_ips"),
    ]  # fmt: skip


def test_a_key_works_from_its_own_networks_only(acme: Cast) -> None:
    with acme.scope():
        key, text = issue_api_key(
            name="office", scopes=["videos:read"], allowed_ips=["198.51.100.0/24", "2001:db8::/32"]
        )
    client = with_key(text)

    answers = {
        address: client.get("/v1/videos", REMOTE_ADDR=address, HTTP_X_FORWARDED_FOR="198.51.100.7")
        for address in ("198.51.100.7", "::ffff:198.51.100.8", "2001:db8::1", "198.51.101.7", "127.0.0.1", "")
    }

    assert [reply.status_code for reply in answers.values()] == [200, 200, 200, 403, 403, 403]
    assert answers["127.0.0.1"].json()["code"] == "address_not_allowed"
    with acme.scope():
        assert ApiKey.objects.get(id=key.id).last_used_ip == "198.51.100.7"


def test_a_key_with_a_limit_of_its_own_leaves_the_other_keys_their_requests(acme: Cast) -> None:
    with acme.scope():
        _, text = issue_api_key(name="slow", scopes=["videos:read"], requests_per_minute=2)
    client = with_key(text)

    statuses = [client.get("/v1/videos").status_code for _ in range(3)]

    assert statuses == [200, 200, 429]
    assert acme.client.get("/v1/videos").status_code == 200


def test_a_key_ends_no_key_that_outranks_it_nor_the_last_that_manages_keys(acme: Cast) -> None:
    _, client = limited(acme)
    owner = f"/v1/api-keys/{encode('key', acme.key_id)}"
    passing = acme.client.post(
        "/v1/api-keys",
        {"name": "hour", "scopes": ["*"], "expires_at": (timezone.now() + timedelta(hours=1)).isoformat()},
    ).json()
    with acme.scope():
        ApiKey.objects.filter(name="limited").update(scopes=["keys:read", "keys:write", "videos:read"])

    above = [client.delete(owner), client.patch(owner, {"name": "mine"}), client.post(f"{owner}/rotate", {})]
    with acme.scope():
        ApiKey.objects.filter(name="limited").delete()
    last = [
        with_key(passing["key"]).delete(owner),
        with_key(passing["key"]).post(f"{owner}/rotate", {"overlap_seconds": 0}),
        acme.client.delete(owner),
    ]

    assert [(reply.status_code, reply.json()["code"]) for reply in above] == [(403, "insufficient_scope")] * 3
    assert [(reply.status_code, reply.json()["code"]) for reply in last] == [(409, "last_managing_key")] * 3
    with acme.scope():
        assert list(ApiKey.objects.order_by("id").values_list("name", "revoked_at")) == [("test", None), ("hour", None)]
    assert with_key(passing["key"]).delete(f"/v1/api-keys/{passing['id']}").status_code == 204


def test_revoking_a_key_can_take_along_what_it_made(acme: Cast) -> None:
    def child(client: Any, name: str) -> dict[str, Any]:
        made: dict[str, Any] = client.post("/v1/api-keys", {"name": name, "scopes": ["keys:write"]}).json()
        return made

    leaked = child(acme.client, "leaked")
    first = child(with_key(leaked["key"]), "first")
    second = child(with_key(first["key"]), "second")
    other = child(acme.client, "other")

    assert acme.client.delete(f"/v1/api-keys/{leaked['id']}?descendants=true").status_code == 204

    for ended in (leaked, first, second):
        assert refused(ended["key"])["code"] == "invalid_api_key"
    assert with_key(other["key"]).get("/v1/api-keys").status_code == 200
    events = acme.client.get("/v1/audit-events", {"action": "api_key.revoked"}).json()["data"]
    assert [event["details"] for event in events] == [{"keys_ended": 3, "descendants": True}]


@pytest.mark.parametrize(
    ("scope", "reads", "makes", "lifts"),
    [("keys:read", 200, 403, 403), ("keys:write", 200, 201, 403), ("budgets:write", 403, 403, 200)],
)
def test_reading_keys_making_keys_and_lifting_the_budget_are_three_scopes(
    acme: Cast, scope: str, reads: int, makes: int, lifts: int
) -> None:
    with acme.scope():
        _, text = issue_api_key(name="one", scopes=[scope])
    client = with_key(text)

    assert client.get("/v1/api-keys").status_code == reads
    assert client.post("/v1/api-keys", {"name": "x", "scopes": [scope]}).status_code == makes
    assert client.put("/v1/budget", {}).status_code == lifts


def test_a_repeated_creation_makes_one_key_and_shows_it_again(acme: Cast) -> None:
    def repeat() -> Any:
        body = {"name": "ci", "scopes": ["videos:read"]}
        return acme.client.post("/v1/api-keys", body, HTTP_IDEMPOTENCY_KEY="k-1")

    first, second = repeat(), repeat()

    assert (first.status_code, second.status_code) == (201, 201)
    assert second.json() == first.json()
    assert second.headers["Cache-Control"] == "no-store"
    with acme.scope():
        assert ApiKey.objects.filter(name="ci").count() == 1
        assert first.json()["key"] not in json.dumps(IdempotencyRecord.objects.get().response)


def test_a_repeated_rotation_makes_one_successor(acme: Cast) -> None:
    made = acme.client.post("/v1/api-keys", {"name": "ci", "scopes": ["videos:read"]}).json()
    where = f"/v1/api-keys/{made['id']}/rotate"

    first, second = (acme.client.post(where, {}, HTTP_IDEMPOTENCY_KEY="k-1").json() for _ in range(2))

    assert first == second
    with acme.scope():
        assert ApiKey.objects.filter(name="ci").count() == 2


def test_another_key_of_the_tenant_is_not_shown_a_stored_secret(acme: Cast) -> None:
    with acme.scope():
        _, keeper = issue_api_key(name="keeper", scopes=["keys:write"])
    body = {"name": "all", "scopes": ["*"]}
    made = acme.client.post("/v1/api-keys", body, HTTP_IDEMPOTENCY_KEY="k-1").json()

    response = with_key(keeper).post("/v1/api-keys", body, HTTP_IDEMPOTENCY_KEY="k-1")

    assert (response.status_code, response.json()["code"]) == (422, "idempotency_key_reused")
    assert made["key"] not in response.content.decode()


@pytest.mark.parametrize(
    "body",
    [
        {"name": "x", "scopes": []},
        {"name": "x", "scopes": ["root"]},
        {"name": "", "scopes": ["*"]},
        {"name": "x", "scopes": ["*"], "expires_at": "2001-01-01T00:00:00Z"},
    ],
)
def test_a_bad_key_is_not_made(acme: Cast, body: dict[str, Any]) -> None:
    assert acme.client.post("/v1/api-keys", body).status_code == 400
    with acme.scope():
        assert ApiKey.objects.count() == 1
