"""An operation that goes says so in its replies and in the document, long enough before."""

from __future__ import annotations

from datetime import date

import pytest
from drf_spectacular.generators import SchemaGenerator

from backend.api.contract.deprecation import Deprecation
from backend.library.api.videos import VideosView
from tests.conftest import Cast

ENDING = Deprecation(since=date(2027, 1, 1), sunset=date(2027, 7, 1))


def test_customers_have_half_a_year() -> None:
    with pytest.raises(ValueError, match="180 days"):
        Deprecation(since=date(2027, 1, 1), sunset=date(2027, 6, 29))
    Deprecation(since=date(2027, 1, 1), sunset=date(2027, 6, 30))


def test_each_reply_of_a_deprecated_operation_names_its_end(acme: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Deprecation" not in acme.client.get("/v1/videos").headers
    monkeypatch.setattr(VideosView, "deprecated", {"GET": ENDING})

    for reply in (acme.client.get("/v1/videos"), acme.client.get("/v1/videos", {"limit": "many"})):
        assert reply.headers["Deprecation"] == "@1798761600"
        assert reply.headers["Sunset"] == "Thu, 01 Jul 2027 00:00:00 GMT"
    assert "Sunset" not in acme.client.post("/v1/videos", {}).headers


def test_the_document_marks_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(VideosView, "deprecated", {"GET": ENDING})
    operations = SchemaGenerator().get_schema(request=None, public=True)["paths"]["/v1/videos"]

    assert (operations["get"]["deprecated"], operations["get"]["x-sunset"]) == (True, "2027-07-01")
    assert "deprecated" not in operations["post"]
