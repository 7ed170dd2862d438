"""The media of a video's page: for staff to whom the tenant's content is open, by the tokens of the page alone."""

from __future__ import annotations

import json
import re
from typing import Any
from uuid import UUID

import pytest
from django.test import Client

from backend.api.public_ids import encode
from backend.playback.services.tokens import token_of
from backend.staff.models import ContentAccess
from tests.conftest import Cast
from tests.console.indexed import indexed_video
from tests.console.signing_in import open_content


@pytest.fixture
def video(acme: Cast) -> UUID:
    return indexed_video(acme)


def address(cast: Cast, video_id: UUID) -> str:
    return f"/console/media/videos/{encode('vid', video_id)}/captions.vtt?token={token_of(cast.tenant_id, video_id)}"


def played(staff: Client, video_id: UUID) -> dict[str, Any]:
    page = staff.get(f"/console/library/video/{video_id}/change/").content.decode()
    found = re.search(r'<script id="recordings" type="application/json">(.*?)</script>', page)
    assert found is not None
    (recording,) = json.loads(found[1])
    return dict(recording)


def test_the_page_opens_its_media_while_the_content_is_open(staff: Client, acme: Cast, video: UUID) -> None:
    open_content(staff, acme)
    source = played(staff, video)["captions"][0]["src"]

    assert source.startswith("/console/media/videos/vid_")
    assert staff.get(source).content.startswith(b"WEBVTT")
    assert staff.get(played(staff, video)["playlist"]).status_code == 409, "no rendition is made yet"
    ContentAccess.objects.all().delete()
    assert staff.get(source).status_code == 404


def test_nobody_else_opens_it(staff: Client, acme: Cast, globex: Cast, video: UUID) -> None:
    theirs = indexed_video(globex)
    open_content(staff, acme)
    mine = address(acme, video)

    assert staff.get(mine).status_code == 200
    assert Client().get(mine).status_code == 404
    assert acme.client.get(mine).status_code == 404, "a customer's key opens nothing here"
    assert staff.get(address(globex, theirs)).status_code == 404, "this tenant's content is not open"
    assert staff.get(mine.partition("?")[0]).status_code == 404
    assert staff.get(mine.replace("token=", "token=A")).status_code == 404
