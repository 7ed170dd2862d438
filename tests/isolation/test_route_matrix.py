"""Every route of the API for every kind of caller: who is refused, with which code, and that nothing changes.

The routes and the scopes they need come from the URL resolver, so a new route is in the matrix from its first day.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings
from django.test import override_settings
from django.utils import timezone
from rest_framework.test import APIClient

from backend.api.public_ids import encode
from backend.people.models import Person, Role
from backend.people.roles import SCOPES_OF
from backend.people.services import members
from backend.tenancy import keys
from backend.tenancy.models import ApiKey
from backend.tenancy.services import issue_api_key
from tests.conftest import Cast
from tests.ekg.recorded import new_id
from tests.isolation.test_catalog import superuser
from tests.isolation.test_routes import BODIES, PARAMETER, PREFIX_OF, routes, state
from tests.people.cast import Browser, member_of

Call = Callable[[str, str, Any], Any]


def cases() -> list[tuple[str, str, str]]:
    """Return method, route and needed scope of every operation that belongs to a tenant."""
    return [
        (method, route, scope)
        for route, view in routes()
        for method, scope in sorted(getattr(view, "scopes", {}).items())
        if scope is not None
    ]


def path_of(route: str) -> str:
    """Return a path of the route with ids that no tenant has."""
    return "/" + PARAMETER.sub(lambda found: encode(PREFIX_OF[found[1]], new_id()), route)


def by_key(key: str) -> Call:
    client = APIClient(raise_request_exception=False)
    client.credentials(**({"HTTP_AUTHORIZATION": f"Bearer {key}"} if key else {}))

    def call(method: str, path: str, body: Any) -> Any:
        return client.generic(method, path) if body is None else getattr(client, method.lower())(path, body)

    return call


def of_a_person(route: str) -> bool:
    """Whether a route is about the caller, and not about the tenant's things."""
    return route == "v1/me" or route.startswith("v1/me/")


def rows() -> dict[str, str]:
    """Return a fingerprint of every table but that of sessions, which note when they were used."""
    return {table: digest for table, digest in state().items() if table != "django_session"}


def send(call: Call, method: str, route: str) -> tuple[int, str]:
    """Return status and code of a reply. The body is one that the route would accept."""
    body = None if method in {"GET", "DELETE"} else BODIES.get((method, route), {})
    response = call(method, path_of(route), body)
    problem = response.headers.get("Content-Type") == "application/problem+json"
    return response.status_code, response.json()["code"] if problem else ""


@pytest.fixture(autouse=True)
def _no_limit() -> Iterator[None]:
    with override_settings(RATE_LIMIT_PER_MINUTE=10**9, FREE_REQUESTS_PER_MINUTE=10**9):
        yield


def key_of(cast: Cast, *scopes: str, **fields: Any) -> str:
    with cast.scope():
        key, text = issue_api_key(name="matrix", scopes=scopes or ["*"])
        if fields:
            ApiKey.objects.filter(id=key.id).update(**fields)
    return text


def test_every_operation_is_in_the_matrix() -> None:
    assert len(cases()) > 80
    assert {scope for _, _, scope in cases()} - {keys.ANYBODY} <= {*keys.SCOPES, keys.ALL_SCOPES}


def test_nobody_is_answered_without_a_key_that_is_valid_now(acme: Cast, globex: Cast) -> None:
    past = timezone.now() - timedelta(seconds=1)
    refused: dict[str, tuple[str, tuple[int, str]]] = {
        "no key": ("", (401, "not_authenticated")),
        "unknown key": (keys.generate().text, (401, "invalid_api_key")),
        "no key at all": ("vk_live_x", (401, "invalid_api_key")),
        "expired": (key_of(acme, expires_at=past), (401, "invalid_api_key")),
        "revoked": (key_of(acme, revoked_at=past), (401, "invalid_api_key")),
        "other address": (key_of(acme, allowed_ips=["203.0.113.0/24"]), (403, "address_not_allowed")),
        "suspended": (key_of(globex), (401, "invalid_api_key")),
    }
    with superuser() as connection:
        connection.execute("UPDATE tenancy_tenant SET suspended_at = %s WHERE id = %s", [past, globex.tenant_id])
    before = rows()

    for name, (key, expected) in refused.items():
        call = by_key(key)
        for method, route, _ in cases():
            # No key is read there: it belongs to a person.
            due = (401, "not_authenticated") if route == "v1/me" else expected
            assert send(call, method, route) == due, (name, method, route)
    assert rows() == before


def test_a_key_without_the_scope_is_refused_before_anything_is_read(acme: Cast) -> None:
    all_but = {
        scope: by_key(key_of(acme, *(one for one in keys.SCOPES if scope not in (one, keys.IMPLIED.get(one))
                              and one != keys.IMPLIED.get(scope))))
        for scope in (*keys.SCOPES, keys.ALL_SCOPES)
    }  # fmt: skip
    before = rows()

    for method, route, scope in cases():
        if scope != keys.ANYBODY:
            found = send(all_but[scope], method, route)
            assert found == (403, "insufficient_scope"), (method, route, scope)
    assert rows() == before


@pytest.mark.parametrize("role", list(Role))
def test_each_role_may_do_what_its_scopes_say(acme: Cast, role: Role) -> None:
    membership = member_of(acme, role)

    browser = Browser(Person.objects.get(id=membership.person_id), acme.slug)
    allowed, refused = [], []
    for method, route, scope in cases():
        mine = SCOPES_OF[role]
        may = scope == keys.ANYBODY or bool(mine & {keys.ALL_SCOPES, scope, keys.IMPLIED.get(scope, scope)})
        (allowed if may else refused).append((method, route))
    before = rows()

    for method, route in refused:
        assert send(browser.api, method, route) == (403, "insufficient_scope"), (role, method, route)
    assert rows() == before
    for method, route in allowed:
        if of_a_person(route) and method != "GET":
            continue  # leaving the tenant would end the test's own session
        # Whatever it answers to unknown ids and empty bodies, it is not a refusal of the caller.
        status, code = send(browser.api, method, route)
        accepted = status in {200, 201, 202, 204, 400, 402, 404, 409, 422} or code == "owners_only"
        assert accepted, (role, method, route, status, code)


def test_a_member_of_another_tenant_is_nobody_here(acme: Cast, globex: Cast) -> None:

    stranger = Browser(Person.objects.get(id=member_of(globex, Role.OWNER).person_id), acme.slug)
    before = rows()

    for method, route, scope in cases():
        if scope != keys.ANYBODY:
            assert send(stranger.api, method, route) == (403, "not_a_member"), (method, route)
    assert rows() == before


def test_a_session_that_has_ended_is_refused_on_every_route(acme: Cast, globex: Cast) -> None:
    """Too old, ended by an owner, of a member who was removed, of a suspended tenant."""

    def browser(cast: Cast, **session: Any) -> tuple[Browser, UUID]:
        membership = member_of(cast, Role.OWNER)
        return Browser(Person.objects.get(id=membership.person_id), cast.slug, **session), membership.id

    began = time.time() - 60
    too_old, _ = browser(acme)
    session = too_old.session
    session["began_at"] = time.time() - settings.SESSION_ABSOLUTE_SECONDS - 1
    session.save()
    ended, to_end = browser(acme, at=began)
    removed, to_remove = browser(acme)
    suspended, _ = browser(globex)
    with acme.scope():
        members.end_sessions(to_end, by_owner=True)
        members.remove(to_remove, by_owner=True)
    with superuser() as connection:
        connection.execute("UPDATE tenancy_tenant SET suspended_at = now() WHERE id = %s", [globex.tenant_id])
    refused = {
        "ended": (ended, (403, "session_ended")),
        "removed": (removed, (403, "not_a_member")),
        "suspended": (suspended, (403, "not_a_member")),
        "too old": (too_old, (401, "not_authenticated")),
    }
    before = rows()

    for name, (caller, expected) in refused.items():
        for method, route, scope in cases():
            if scope != keys.ANYBODY:
                assert send(caller.api, method, route) == expected, (name, method, route)
    assert rows() == before


def test_a_session_without_the_token_of_its_cookie_changes_nothing(acme: Cast) -> None:

    browser = Browser(Person.objects.get(id=member_of(acme, Role.OWNER).person_id), acme.slug)
    before = rows()

    for method, route, _ in cases():
        if method != "GET":
            forged = partial(browser.api, **{"X-CSRFToken": ""})
            assert send(forged, method, route)[0] == 403, (method, route)
    assert rows() == before
