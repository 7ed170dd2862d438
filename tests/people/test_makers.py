"""What acts for somebody who has gone: a member who was removed, or a key that was revoked."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.test import Client
from django.utils import timezone

from backend.api.public_ids import encode
from backend.people.models import Membership
from backend.people.services import members
from backend.questions.models import Question, QuestionStatus
from backend.tenancy.services import issue_api_key
from tests.conftest import Cast
from tests.people.cast import Browser, member_of, person
from tests.tenancy.test_api_keys import with_key

ENDPOINT = {"url": "https://receiver.example/hooks"}


SCOPES = ["videos:read", "questions:read", "keys:write", "members:write", "webhooks:write", "shares:write"]


def act(call: Any, cast: Cast) -> dict[str, str]:
    """Make one thing of each kind through an API, and return their ids by kind."""
    with cast.scope():
        question = Question.objects.create(
            tenant_id=cast.tenant_id,
            text="Who leaves?",
            answer="A man.",
            status=QuestionStatus.SUCCEEDED,
            finish_reason="answered",
        )
    until = (timezone.now() + timedelta(days=5)).isoformat()
    bodies: dict[str, tuple[str, dict[str, Any]]] = {
        "api_key": ("/v1/api-keys", {"name": "k", "scopes": ["videos:read"]}),
        "invitation": ("/v1/invitations", {"email": "accomplice@example.org", "role": "viewer"}),
        "webhook_endpoint": ("/v1/webhook-endpoints", ENDPOINT),
        "share": ("/v1/shares", {"question_id": encode("qst", question.id), "expires_at": until}),
    }
    made = {}
    for kind, (path, body) in bodies.items():
        reply = call(path, body)
        assert reply.status_code == 201, reply.content
        made[kind] = reply.json()["id"]
        if kind in {"invitation", "share"}:
            made[f"{kind} link"] = "/" + reply.json()["url"].split("/", 3)[3]
    return made


def living(cast: Cast, made: dict[str, str]) -> set[str]:
    """Which of these things still act."""
    owner = cast.client
    ended = {
        "api_key": owner.get(f"/v1/api-keys/{made['api_key']}").json()["revoked_at"],
        "invitation": owner.get(f"/v1/invitations/{made['invitation']}").json()["revoked_at"],
        "webhook_endpoint": owner.get(f"/v1/webhook-endpoints/{made['webhook_endpoint']}").status_code == 404,
        "share": owner.get(f"/v1/shares/{made['share']}").json()["revoked_at"],
    }
    return {kind for kind, end in ended.items() if not end}


def logged(cast: Cast, action: str) -> dict[str, Any]:
    event: dict[str, Any] = cast.client.get("/v1/audit-events", {"action": action}).json()["data"][0]
    return event["details"]


def test_what_a_removed_member_made_ends_or_is_listed(acme: Cast) -> None:
    eve = person("eve")
    membership = member_of(acme, "admin", eve)
    browser = Browser(eve, acme.slug)
    made = act(lambda path, body: browser.api("POST", path, body), acme)
    name = f"/v1/members/{encode('mem', membership.id)}"

    listed = acme.client.get(f"{name}/made").json()["data"]
    assert {row["object"]: (row["id"], row["ends_with_maker"]) for row in listed} == {
        "api_key": (made["api_key"], True),
        "invitation": (made["invitation"], True),
        "webhook_endpoint": (made["webhook_endpoint"], False),
        "share": (made["share"], False),
    }
    assert acme.client.delete(name).status_code == 204
    assert living(acme, made) == {"webhook_endpoint", "share"}
    assert Client().get(made["invitation link"]).status_code == 404
    assert logged(acme, "member.removed") == {
        "person_id": encode("per", eve.id),
        "role": "admin",
        "ended": [made["api_key"], made["invitation"]],
        "left": [made["webhook_endpoint"], made["share"]],
    }


def test_the_rest_ends_in_the_act_that_removes_the_member(acme: Cast) -> None:
    eve = person("eve")
    membership = member_of(acme, "admin", eve)
    browser = Browser(eve, acme.slug)
    made = act(lambda path, body: browser.api("POST", path, body), acme)

    name = f"/v1/members/{encode('mem', membership.id)}?end_made=true"
    with acme.scope():
        _, text = issue_api_key(name="manager", scopes=["members:write"])
    refused = with_key(text).delete(name)
    assert (refused.status_code, refused.json()["code"]) == (403, "insufficient_scope")
    assert living(acme, made) == {"api_key", "invitation", "webhook_endpoint", "share"}
    with acme.scope():
        assert Membership.objects.filter(id=membership.id).exists(), "all of it or nothing"
    assert acme.client.delete(name).status_code == 204
    assert living(acme, made) == set()
    assert Client().get(made["share link"]).status_code == 404


def test_a_key_of_a_removed_member_leaves_nothing_unlisted(acme: Cast, globex: Cast) -> None:
    """What the member's key made counts as the member's."""
    eve = person("eve")
    membership = member_of(acme, "admin", eve)
    text = Browser(eve, acme.slug).api("POST", "/v1/api-keys", {"name": "k", "scopes": SCOPES}).json()["key"]
    made = act(with_key(text).post, acme)
    other = globex.client.post("/v1/webhook-endpoints", ENDPOINT).json()["id"]

    name = f"/v1/members/{encode('mem', membership.id)}"
    listed = {row["id"] for row in acme.client.get(f"{name}/made").json()["data"]}
    assert {made["webhook_endpoint"], made["share"], made["invitation"], made["api_key"]} < listed
    assert acme.client.delete(f"{name}?end_made=true").status_code == 204
    assert living(acme, made) == set()
    assert globex.client.get(f"/v1/webhook-endpoints/{other}").status_code == 200


def test_what_a_revoked_key_made_ends_or_is_listed(acme: Cast) -> None:
    made_key = acme.client.post("/v1/api-keys", {"name": "leaked", "scopes": ["*"]}).json()
    made = act(with_key(made_key["key"]).post, acme)
    name = f"/v1/api-keys/{made_key['id']}"

    listed = acme.client.get(f"{name}/made").json()["data"]
    assert {row["object"]: row["ends_with_maker"] for row in listed} == {
        "api_key": False, "invitation": True, "webhook_endpoint": False, "share": False,
    }  # fmt: skip
    assert acme.client.delete(name).status_code == 204
    assert living(acme, made) == {"api_key", "webhook_endpoint", "share"}
    assert logged(acme, "api_key.revoked") == {
        "keys_ended": 1,
        "descendants": False,
        "ended": [made["invitation"]],
        "left": [made["webhook_endpoint"], made["share"]],
    }
    assert acme.client.delete(f"{name}?descendants=true&end_made=true").status_code == 204
    assert living(acme, made) == set()


def test_whoever_moves_an_endpoint_is_its_maker(acme: Cast) -> None:
    eve = person("eve")
    membership = member_of(acme, "developer", eve)
    endpoint = acme.client.post("/v1/webhook-endpoints", ENDPOINT).json()
    assert endpoint["created_by"] == encode("key", acme.key_id)
    browser = Browser(eve, acme.slug)
    browser.api("PATCH", f"/v1/webhook-endpoints/{endpoint['id']}", {"description": "mine"})
    moved = browser.api("PATCH", f"/v1/webhook-endpoints/{endpoint['id']}", {"url": "https://evil.example/hooks"})
    assert moved.json()["created_by"] == encode("per", eve.id)
    (listed,) = acme.client.get(f"/v1/members/{encode('mem', membership.id)}/made").json()["data"]
    assert listed["id"] == endpoint["id"]


def test_invitations_end_when_their_maker_may_invite_nobody_any_more(acme: Cast) -> None:
    eve = person("eve")
    membership = member_of(acme, "admin", eve)
    browser = Browser(eve, acme.slug)
    link = browser.api("POST", "/v1/invitations", {"email": "accomplice@example.org", "role": "admin"}).json()
    acme.client.patch(f"/v1/members/{encode('mem', membership.id)}", {"role": "developer"})
    assert acme.client.get(f"/v1/invitations/{link['id']}").json()["revoked_at"] is not None


def test_a_member_who_leaves_takes_what_they_made_along(acme: Cast) -> None:
    eve = person("eve")
    member_of(acme, "admin", eve)
    browser = Browser(eve, acme.slug)
    made = act(lambda path, body: browser.api("POST", path, body), acme)
    assert browser.api("DELETE", "/v1/me/membership?end_made=true").status_code == 204
    assert living(acme, made) == set()


def test_a_removal_that_is_replayed_after_a_restore_ends_invitations_too(acme: Cast) -> None:
    eve = person("eve")
    membership = member_of(acme, "admin", eve)
    made = Browser(eve, acme.slug).api("POST", "/v1/invitations", {"email": "x@example.org", "role": "viewer"}).json()
    with acme.scope():
        assert members.remove_again(membership.id)
    assert acme.client.get(f"/v1/invitations/{made['id']}").json()["revoked_at"] is not None
