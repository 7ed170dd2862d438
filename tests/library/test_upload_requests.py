"""Requests about uploads that must be refused, and that they leave nothing behind."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import override_settings

from backend.library import storage
from backend.library.models import Upload
from tests.conftest import Cast
from tests.library.uploading import create_upload, make_video


@pytest.mark.parametrize(
    ("change", "status", "pointer", "code"),
    [
        ({"size_bytes": 0}, 400, "/size_bytes", "min_value"),
        ({"size_bytes": 10**15}, 413, "/size_bytes", "upload_too_large"),
        ({"filename": "x" * 256}, 400, "/filename", "max_length"),
        ({"filename": "a\x00b"}, 400, "/filename", "null_characters_not_allowed"),
        ({"content_type": "video"}, 400, "/content_type", "invalid"),
        ({"sha256": "zz"}, 400, "/sha256", "invalid"),
        ({"collection_id": "col_nonsense"}, 400, "/collection_id", "invalid_id"),
        ({"profile": "space"}, 400, "/profile", "invalid_choice"),
        ({"metadata": {"k": "v" * 501}}, 400, "/metadata/k", "max_length"),
        ({"metadata": {"a\x00b": "v"}}, 400, "/metadata", "null_characters_not_allowed"),
        ({"nmae": "typo"}, 400, "/nmae", "unknown_field"),
        ({"size_bytes": "1"}, 400, "/size_bytes", "invalid"),
        ({"size_bytes": True}, 400, "/size_bytes", "invalid"),
        ({"part_checksums": "false"}, 400, "/part_checksums", "invalid"),
        ({"part_checksums": 1}, 400, "/part_checksums", "invalid"),
        ({"duration_ms": 366 * 86_400_000}, 400, "/duration_ms", "too_long"),
        ({"filename": "clip\n.mp4"}, 400, "/filename", "invalid_characters"),
        ({"title": "photo\u202egpj.mp4"}, 400, "/title", "invalid_characters"),
        ({"external_id": "a\tb"}, 400, "/external_id", "invalid_characters"),
        ({"metadata": {"a\u2028b": "v"}}, 400, "/metadata", "invalid_characters"),
    ],
)
def test_a_bad_upload_is_refused_with_a_pointer_to_the_mistake(
    acme: Cast, change: dict[str, Any], status: int, pointer: str, code: str
) -> None:
    body = {"filename": "clip.mp4", "size_bytes": 1, "content_type": "video/mp4", **change}

    response = acme.client.post("/v1/uploads", body)

    assert response.status_code == status
    assert [(error["pointer"], error["code"]) for error in response.json()["errors"]] == [(pointer, code)]
    with acme.scope():
        assert Upload.objects.count() == 0


@pytest.mark.parametrize("numbers", [[], [0], [2], list(range(1, 102)), ["one"]])
def test_part_urls_are_signed_for_parts_of_the_upload_only(acme: Cast, numbers: list[Any]) -> None:
    upload = create_upload(acme.client, b"x")

    response = acme.client.post(f"/v1/uploads/{upload['id']}/part-urls", {"part_numbers": numbers})

    assert response.status_code == 400


def test_an_upload_takes_the_profile_of_its_own_collection_only(acme: Cast, globex: Cast) -> None:
    mine = acme.client.post("/v1/collections", {"name": "Park", "profile": "wildlife"}).json()["id"]
    theirs = globex.client.post("/v1/collections", {"name": "Park"}).json()["id"]

    assert make_video(acme.client, collection_id=mine)["profile"] == "wildlife"
    body = {"filename": "a", "size_bytes": 1, "content_type": "video/mp4", "collection_id": theirs}
    refused = acme.client.post("/v1/uploads", body)
    assert refused.json()["errors"] == [
        {"pointer": "/collection_id", "code": "not_found", "detail": "There is no such collection."}
    ]


def test_storage_away_is_a_503_and_nothing_changes(acme: Cast) -> None:
    with override_settings(S3_ENDPOINT_URL="http://127.0.0.1:9"):
        storage._client.cache_clear()
        response = acme.client.post("/v1/uploads", {"filename": "a", "size_bytes": 1, "content_type": "video/mp4"})
    storage._client.cache_clear()

    assert (response.status_code, response.json()["code"]) == (503, "storage_unavailable")
    assert response.headers["Retry-After"] == "2"
    with acme.scope():
        assert Upload.objects.count() == 0
