"""The modules that the page of the app names in advance, and how its files are sent."""

from __future__ import annotations

import gzip
import re
from typing import Any

import pytest
from django.test import Client

from backend.people.web_modules import ENTRY, WEB, page_modules, preloads, reached
from tests.conftest import Cast
from tests.people.cast import Browser, member_of

ADDRESSES = {
    "library": "acme/library", "watch": "acme/videos/vid_1", "entity": "acme/videos/vid_1/entities/ent_1",
    "question": "acme/questions/qst_1", "deliveries": "acme/settings/webhooks/whe_1",
}  # fmt: skip


def test_every_page_of_the_router_has_its_module() -> None:
    router = (ENTRY.parent / "router.js").read_text()
    assert len(page_modules()) == router.count('  ["') > 15
    assert all(module.is_file() for module in page_modules().values())


@pytest.mark.parametrize(("name", "address"), ADDRESSES.items())
def test_a_page_names_its_modules_and_no_others(name: str, address: str) -> None:
    (module,) = {each for each in page_modules().values() if each.stem == name}
    named = {each.rpartition("/static/web/")[2] for each in preloads(address)}
    wanted = reached(ENTRY) | reached(module)
    assert named == {each.relative_to(WEB).as_posix() for each in wanted}
    assert f"{module.parent.name}/{module.name}" in named


def test_a_page_that_does_not_exist_names_those_of_the_entry() -> None:
    assert set(preloads("acme/never/made")) < set(preloads("acme/library"))
    assert preloads("") == preloads("acme") == preloads("acme/library")


def test_the_page_has_each_of_them_as_a_link(acme: Cast) -> None:
    browser = Browser(member_of(acme, "viewer").person)
    reply: Any = browser.get(f"/app/{acme.slug}/library", headers={"accept": "text/html"})
    links = re.findall(r'<link rel="modulepreload" href="([^"]+)">', reply.content.decode())
    assert tuple(links) == preloads("acme/library")
    assert {link: Client().get(link).status_code for link in links} == dict.fromkeys(links, 200)


def content(reply: Any) -> bytes:
    return b"".join(reply.streaming_content) if reply.streaming else bytes(reply.content)


def test_scripts_and_sheets_are_compressed_and_found_unchanged(database: None) -> None:
    for path in ("/static/web/app/main.js", "/static/web/app/app.css"):
        plain, packed = (Client().get(path, headers={"accept-encoding": each}) for each in ("identity", "gzip, br"))
        assert (plain.get("Content-Encoding"), packed["Content-Encoding"]) == (None, "gzip")
        assert "Accept-Encoding" in packed["Vary"]
        sent = content(packed)
        assert gzip.decompress(sent) == content(plain)
        assert len(sent) < len(gzip.decompress(sent)) / 2
        again: Any = Client().get(
            path, headers={"accept-encoding": "gzip", "if-modified-since": packed["Last-Modified"]}
        )
        assert again.status_code == 304


def test_parts_of_files_and_replies_of_the_api_are_not_compressed(database: None) -> None:
    part: Any = Client().get(
        "/static/web/sample/crossing.mp4", headers={"accept-encoding": "gzip", "range": "bytes=0-9"}
    )
    assert (part.status_code, part.get("Content-Encoding"), len(content(part))) == (206, None, 10)
    api: Any = Client().get("/v1/openapi.json", headers={"accept-encoding": "gzip"})
    assert (api.status_code, api.get("Content-Encoding")) == (200, None)
