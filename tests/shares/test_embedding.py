"""Shares inside the pages of others: which origins may frame them, and what their page shows there."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.test import Client

from tests.conftest import Cast
from tests.shares.test_shares import ended, of_question, opened, question, video

__all__ = ["question", "video"]
SHOP, OTHER = "https://shop.example.com", "https://other.example.com:8443"


def listed(cast: Cast, *origins: str) -> None:
    reply = cast.client.put("/v1/allowed-origins", {"origins": [], "embed_origins": [*origins]})
    assert reply.status_code == 200, reply.content


def embedded(made: dict[str, Any]) -> Any:
    return Client().get(urlsplit(made["url"]).path, {"embed": "1"})


def framing(reply: Any) -> tuple[list[str], str | None]:
    (part,) = (part for part in reply["Content-Security-Policy"].split("; ") if part.startswith("frame-ancestors"))
    return part.split()[1:], reply.headers.get("X-Frame-Options")


def test_nobody_frames_a_share_until_the_tenant_lists_origins(acme: Cast, globex: Cast, question: UUID) -> None:
    made = of_question(acme, question)
    listed(globex, SHOP)
    assert framing(embedded(made)) == (["'none'"], "DENY")

    listed(acme, SHOP, OTHER)

    assert framing(embedded(made)) == ([OTHER, SHOP], None)
    assert framing(opened(made)) == (["'none'"], "DENY"), "only the page for frames is framed"


def test_the_page_for_frames_shows_the_answer_and_the_times_of_its_evidence(acme: Cast, question: UUID) -> None:
    page = embedded(of_question(acme, question, title="For the insurer")).content.decode()

    for shown in ("For the insurer", "Who leaves?", "A man &lt;b&gt;leaves&lt;/b&gt;.", "01:01–1:01:40"):
        assert shown in page, shown
    for left_out in ("<header", "<img", "AVA Cloud</a>"):
        assert left_out not in page, left_out


def test_an_ended_share_is_not_framed(acme: Cast, question: UUID) -> None:
    made = of_question(acme, question)
    listed(acme, SHOP)
    acme.client.delete(f"/v1/shares/{made['id']}")

    assert framing(embedded(made)) == (["'none'"], "DENY")
    assert ended(embedded(made)) == ended(embedded({"url": "http://x/share/" + "A" * 43}))


def test_origins_for_frames_are_changed_apart_from_those_of_keys(acme: Cast) -> None:
    def put(**body: list[str]) -> Any:
        return acme.client.put("/v1/allowed-origins", body)

    assert put(origins=[OTHER], embed_origins=[SHOP, SHOP]).json()["embed_origins"] == [SHOP]
    assert put(origins=[]).json() == {"object": "allowed_origins", "origins": [], "embed_origins": [SHOP]}
    refused = put(origins=[], embed_origins=["https://*.example.com"])
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (400, "/embed_origins/0")
    assert acme.client.get("/v1/allowed-origins").json()["embed_origins"] == [SHOP]
