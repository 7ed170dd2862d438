"""A token ends with the key or the membership that it was made for; those of others go on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from backend.library.services.collections import create_collection
from backend.people.models import Membership, Person
from backend.playback.authentication import TOKEN
from backend.playback.services.tokens import token_of
from backend.tenancy.models import ApiKey
from backend.tenancy.services import issue_api_key
from tests.conftest import Cast
from tests.console.indexed import indexed_video
from tests.people.cast import Browser, member_of
from tests.playback.watched import path_of


@pytest.fixture
def video(acme: Cast) -> UUID:
    return indexed_video(acme)


def token_in(reply: Any) -> str:
    """The token of a reply about a rendition."""
    assert reply.status_code == 200, reply.content
    return parse_qs(urlsplit(reply.json()["playlist_url"]).query)[TOKEN][0]


def status_of(video_id: UUID, token: str) -> int:
    return int(APIClient().get(f"{path_of(video_id)}/captions.vtt?token={token}").status_code)


def revoke(cast: Cast, key: ApiKey) -> None:
    with cast.scope():
        ApiKey.objects.filter(id=key.id).update(revoked_at=timezone.now())


def expire(cast: Cast, key: ApiKey) -> None:
    with cast.scope():
        ApiKey.objects.filter(id=key.id).update(expires_at=timezone.now())


@pytest.mark.parametrize("end", [revoke, expire])
def test_a_token_ends_with_its_key(acme: Cast, video: UUID, end: Callable[[Cast, ApiKey], None]) -> None:
    with acme.scope():
        key, secret = issue_api_key(name="player", scopes=["videos:read"], allowed_ips=["127.0.0.1/32"])
    theirs = token_in(APIClient().get(f"{path_of(video)}/hls", headers={"Authorization": f"Bearer {secret}"}))
    others = token_in(acme.client.get(f"{path_of(video)}/hls"))
    elsewhere = APIClient(REMOTE_ADDR="203.0.113.9").get(f"{path_of(video)}/captions.vtt?token={theirs}")
    assert elsewhere.status_code == 200, "players are where the key is not"

    end(acme, key)

    assert (status_of(video, theirs), status_of(video, others)) == (404, 200)
    assert status_of(video, token_of(acme.tenant_id, video)) == 200, "a token for nobody has no key to end with"


def remove(cast: Cast, member: Membership) -> None:
    with cast.scope():
        member.delete()


def end_sessions(cast: Cast, member: Membership) -> None:
    with cast.scope():
        Membership.objects.filter(id=member.id).update(sessions_since=timezone.now())


def end_sessions_of_the_account(cast: Cast, member: Membership) -> None:
    Person.objects.filter(id=member.person_id).update(sessions_since=timezone.now())


def close_the_account(cast: Cast, member: Membership) -> None:
    Person.objects.filter(id=member.person_id).update(is_active=False)


def make_billing(cast: Cast, member: Membership) -> None:
    with cast.scope():
        Membership.objects.filter(id=member.id).update(role="billing")


def limit_to_another_collection(cast: Cast, member: Membership) -> None:
    with cast.scope():
        other = create_collection(fields={"name": "other"})
        Membership.objects.filter(id=member.id).update(collection_ids=[str(other.id)])


@pytest.mark.parametrize(
    "end",
    [remove, end_sessions, end_sessions_of_the_account, close_the_account, make_billing, limit_to_another_collection],
)
def test_a_token_ends_with_its_membership(
    acme: Cast, globex: Cast, video: UUID, end: Callable[[Cast, Membership], None]
) -> None:
    bob, eve = member_of(acme, "viewer"), member_of(acme, "viewer")
    member_of(globex, "viewer", bob.person)
    tokens = [token_in(Browser(member.person, acme.slug).api("GET", f"{path_of(video)}/hls")) for member in (bob, eve)]
    assert [status_of(video, token) for token in tokens] == [200, 200]

    end(acme, bob)

    assert [status_of(video, token) for token in tokens] == [404, 200]
