"""Shares: what a link shows, to whom, how long, and what its tenant learns of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import pytest
from django.test import Client, override_settings
from django.utils import timezone

from backend.accounts.suspension import suspend
from backend.api.public_ids import encode
from backend.audit.models import AuditEvent
from backend.audit.services import OPERATOR
from backend.billing.models import UsageEvent
from backend.clips.models import Clip, ClipStatus
from backend.library.models import Collection, Video, VideoStatus
from backend.questions.models import Evidence, Question, QuestionStatus, QuestionVideo
from backend.questions.services.derived_text import forget_video
from backend.shares import pages
from backend.shares.models import Share
from backend.tenancy.services import issue_api_key
from tests.conftest import Cast
from tests.ekg.recorded import new_id, record
from tests.people.cast import Browser, member_of, person
from tests.tenancy.test_api_keys import with_key


@pytest.fixture
def video(acme: Cast) -> UUID:
    video_id = record(acme).video_id
    with acme.scope():
        Video.objects.filter(id=video_id).update(title="Backdoor of the bank", container="mov")
    return video_id


@pytest.fixture
def question(acme: Cast, video: UUID) -> UUID:
    with acme.scope():
        row = Question.objects.create(
            tenant_id=acme.tenant_id, text="Who leaves?", answer="A man <b>leaves</b>.", external_id="case-7",
            status=QuestionStatus.SUCCEEDED, finish_reason="answered", metadata={"case": "secret"},
        )  # fmt: skip
        linked = {"tenant_id": acme.tenant_id, "question": row, "video_id": video}
        QuestionVideo.objects.create(**linked)
        Evidence.objects.create(
            **linked, ordinal=0, event_id=new_id(), start_ms=61_000, end_ms=3_700_000, quote="The man goes.",
            frame_ms=62_000, frame_key=f"t/{acme.tenant_id}/q/x/1.jpg",
        )  # fmt: skip
    return row.id  # type: ignore[no-any-return]


def in_days(days: float) -> str:
    return (timezone.now() + timedelta(days=days)).isoformat()


def share(cast: Cast, **body: Any) -> dict[str, Any]:
    reply = cast.client.post("/v1/shares", {"expires_at": in_days(1), **body})
    assert reply.status_code == 201, reply.content
    made: dict[str, Any] = reply.json()
    return made


def opened(made: dict[str, Any], **headers: str) -> Any:
    return Client(raise_request_exception=False).get(urlsplit(made["url"]).path, headers=headers)


def of_question(cast: Cast, question: UUID, **body: Any) -> dict[str, Any]:
    return share(cast, question_id=encode("qst", question), **body)


def ended(reply: Any) -> tuple[int, bytes, dict[str, str]]:
    headers = {name: value for name, value in reply.headers.items() if name != "X-Request-Id"}
    return reply.status_code, reply.content, headers


def test_an_answer_is_shown_with_its_evidence_and_nothing_around_it(acme: Cast, question: UUID) -> None:
    made = of_question(acme, question, title="For the insurer")

    reply = opened(made)

    page = reply.content.decode()
    assert reply.status_code == 200
    for shown in ("For the insurer", "Who leaves?", "A man &lt;b&gt;leaves&lt;/b&gt;.", "01:01–1:01:40",
                  "The man goes.", "/q/x/1.jpg?"):  # fmt: skip
        assert shown in page, shown
    for hidden in ("Backdoor", "case-7", "secret", "acme", encode("qst", question), "<b>", made["id"]):
        assert hidden not in page.replace(f"t/{acme.tenant_id}", ""), hidden
    assert reply.headers["Cache-Control"] == "no-store"
    assert reply.headers["X-Robots-Tag"] == "noindex, nofollow"
    assert reply.headers["Referrer-Policy"] == "no-referrer"
    assert "default-src 'self'" in reply.headers["Content-Security-Policy"]
    assert not reply.cookies


def test_a_recording_is_played_from_urls_that_end_and_its_bytes_are_noted(acme: Cast, video: UUID) -> None:
    made = share(acme, video_id=encode("vid", video))

    page = opened(made).content.decode()

    assert "<video" in page
    assert "X-Amz-Expires=1800" in page
    assert "Backdoor" not in page
    with acme.scope():
        noted = UsageEvent.objects.get(meter="egress_gb")
    assert (noted.video_id, noted.api_key_id, noted.billable) == (video, acme.key_id, False)


def test_a_span_shows_the_events_inside_it_and_never_the_recording(acme: Cast, video: UUID) -> None:
    whole = opened_words(acme, share(acme, video_id=encode("vid", video), start_ms=0))
    first = opened_words(acme, share(acme, video_id=encode("vid", video), end_ms=whole[0][1]))
    assert len(whole) == 2
    assert first == whole[:1]
    refused = acme.client.post(
        "/v1/shares", {"expires_at": in_days(1), "video_id": encode("vid", video), "start_ms": 29_999}
    )
    assert (refused.status_code, refused.json()["code"]) == (409, "nothing_to_share")


def test_a_span_inside_one_event_shows_the_chunks_inside_it_and_not_the_event(acme: Cast, video: UUID) -> None:
    page = opened(share(acme, video_id=encode("vid", video), start_ms=11_000, end_ms=20_000)).content.decode()

    assert [n for n in range(10) if f"slice {n}" in page] == [4, 5]
    assert "00:12–00:15" in page
    assert "The dog barks." not in page, "the text of the event also describes what lies outside the span"
    assert "<video" not in page


def test_a_span_over_the_end_of_an_event_shows_it_in_pieces(acme: Cast, video: UUID) -> None:
    page = opened(share(acme, video_id=encode("vid", video), end_ms=15_000)).content.decode()

    assert page.index("A man walks in.") < page.index("slice 3") < page.index("slice 4")
    assert [n for n in range(10) if f"slice {n}" in page] == [3, 4]
    assert [ms for ms in (0, 4_000, 9_000) if f"frames/{ms}.jpg" in page] == [0, 9_000]


def opened_words(cast: Cast, made: dict[str, Any]) -> list[tuple[str, int]]:
    """The events that a page shows, with their ends; checks that it plays nothing."""
    from backend.ekg.models import Event

    page = opened(made).content.decode()
    assert "<video" not in page
    assert "/source" not in page
    with cast.scope():
        events = list(Event.objects.order_by("n").values_list("summary", "end_ms"))
    return [(summary, end) for summary, end in events if summary in page]


def test_only_a_hash_of_the_token_is_kept_and_the_list_does_not_show_it(acme: Cast, question: UUID) -> None:
    made = of_question(acme, question)
    token = urlsplit(made["url"]).path.rpartition("/")[2]

    with acme.scope():
        row = Share.objects.get()
        stored = repr({field.name: getattr(row, field.attname) for field in Share._meta.fields})
    assert bytes(row.digest) == hashlib.sha256(token.encode()).digest()
    assert token not in stored
    got = acme.client.get(f"/v1/shares/{made['id']}").json()
    assert got == {name: value for name, value in made.items() if name != "url"}
    assert acme.client.get("/v1/shares").json()["data"] == [got]
    assert (got["created_by"], got["views"], got["last_viewed_at"]) == (encode("key", acme.key_id), 0, None)


def test_views_are_counted_and_one_an_hour_is_in_the_audit_log(acme: Cast, question: UUID) -> None:
    made = of_question(acme, question)
    for _ in range(3):
        assert opened(made).status_code == 200
    assert Client().head(urlsplit(made["url"]).path).status_code == 200, "a preview is not a view"

    assert acme.client.get(f"/v1/shares/{made['id']}").json()["views"] == 3
    assert views_in_the_log(acme) == 1
    with acme.scope():
        Share.objects.update(audited_at=timezone.now() - timedelta(hours=1))
    opened(made)
    assert views_in_the_log(acme) == 2
    (latest,) = acme.client.get("/v1/audit-events", {"action": "share.viewed", "limit": 1}).json()["data"]
    assert latest["actor"] == {"type": "visitor", "id": None, "name": ""}
    assert (latest["resource_id"], latest["address"]) == (made["id"], "127.0.0.1")


def views_in_the_log(cast: Cast) -> int:
    with cast.scope():
        return AuditEvent.objects.filter(action="share.viewed").count()


def endings() -> Iterator[tuple[str, Any]]:
    def revoke(acme: Cast, made: dict[str, Any], question: UUID, video: UUID) -> None:
        for _ in range(2):
            assert acme.client.delete(f"/v1/shares/{made['id']}").status_code == 204

    def expire(acme: Cast, made: dict[str, Any], question: UUID, video: UUID) -> None:
        with acme.scope():
            Share.objects.update(expires_at=timezone.now())

    def suspended(acme: Cast, made: dict[str, Any], question: UUID, video: UUID) -> None:
        with acme.scope():
            suspend(actor=OPERATOR, reason="test")

    def delete_question(acme: Cast, made: dict[str, Any], question: UUID, video: UUID) -> None:
        assert acme.client.delete(f"/v1/questions/{encode('qst', question)}").status_code in {202, 204}
        with acme.scope():
            assert not Share.objects.exists(), "a share goes with its question"

    def delete_video(acme: Cast, made: dict[str, Any], question: UUID, video: UUID) -> None:
        with acme.scope():
            forget_video(video)

    for ending in (revoke, expire, suspended, delete_question, delete_video):
        yield ending.__name__, ending


@pytest.mark.parametrize(("name", "end"), endings())
def test_an_ended_share_is_answered_like_a_token_that_never_existed(
    acme: Cast, question: UUID, video: UUID, name: str, end: Any
) -> None:
    made = of_question(acme, question)
    assert opened(made).status_code == 200

    end(acme, made, question, video)

    unknown = opened({"url": "http://x/share/" + "A" * 43})
    assert unknown.status_code == 404
    assert ended(opened(made)) == ended(unknown)


@pytest.fixture
def clip(acme: Cast, video: UUID) -> UUID:
    with acme.scope():
        row = Clip.objects.create(
            tenant_id=acme.tenant_id, video_id=video, mode="exact", captions="none", title="Backdoor", start_ms=3_000,
            end_ms=9_000, shown_start_ms=3_000, shown_end_ms=9_000, status=ClipStatus.READY, size_bytes=1_000,
            ready_at=timezone.now(), expires_at=timezone.now() + timedelta(days=30),
        )  # fmt: skip
    return row.id  # type: ignore[no-any-return]


def test_a_clip_is_played_and_nothing_around_it_is_shown(acme: Cast, video: UUID, clip: UUID) -> None:
    made = share(acme, clip_id=encode("clp", clip), title="For the insurer")

    reply = opened(made)

    page = reply.content.decode()
    assert (reply.status_code, made["clip_id"], made["video_id"]) == (200, encode("clp", clip), None)
    for shown in ("For the insurer", "<video controls", f"clips/{clip}/clip.mp4?", f"clips/{clip}/poster.jpg?",
                  "00:03–00:09", "X-Amz-Expires=1800"):  # fmt: skip
        assert shown in page, shown
    assert "Backdoor" not in page
    assert "<script" not in page
    framed = Client().get(urlsplit(made["url"]).path, {"embed": "1"}).content.decode()
    assert f"clips/{clip}/clip.mp4?" in framed
    assert [one["id"] for one in acme.client.get("/v1/shares", {"clip_id": made["clip_id"]}).json()["data"]] == [
        made["id"]
    ]
    assert acme.client.get(f"/v1/shares/{made['id']}").json()["views"] == 2
    assert views_in_the_log(acme) == 1
    with acme.scope():
        noted = UsageEvent.objects.get(meter="egress_gb")
    assert (noted.video_id, noted.billable) == (video, False)


@pytest.mark.parametrize("end", ["revoked", "expired", "clip expired", "clip failed", "clip deleted", "video deleted"])
def test_a_share_of_a_clip_ends(acme: Cast, video: UUID, clip: UUID, end: str) -> None:
    made = share(acme, clip_id=encode("clp", clip))
    assert opened(made).status_code == 200

    with acme.scope():
        if end == "expired":
            Share.objects.update(expires_at=timezone.now())
        elif end == "clip expired":
            Clip.objects.update(expires_at=timezone.now())
        elif end == "clip failed":
            Clip.objects.update(status=ClipStatus.FAILED)
        elif end == "video deleted":
            Video.objects.filter(id=video).update(status=VideoStatus.DELETING)
    if end == "revoked":
        acme.client.delete(f"/v1/shares/{made['id']}")
    elif end == "clip deleted":
        assert acme.client.delete(f"/v1/clips/{encode('clp', clip)}").status_code == 204

    assert ended(opened(made)) == ended(opened({"url": "http://x/share/" + "A" * 43}))


def test_a_clip_that_is_not_made_or_of_another_tenant_cannot_be_shared(
    acme: Cast, globex: Cast, video: UUID, clip: UUID
) -> None:
    body = {"clip_id": encode("clp", clip), "expires_at": in_days(1)}
    with acme.scope():
        _, only_shares = issue_api_key(name="a", scopes=["shares:write"])
    assert with_key(only_shares).post("/v1/shares", body).json()["code"] == "insufficient_scope"
    assert globex.client.post("/v1/shares", body).status_code == 404
    both = acme.client.post("/v1/shares", {**body, "video_id": encode("vid", video)})
    assert both.json()["errors"][0]["code"] == "one_required"
    with acme.scope():
        Clip.objects.update(status=ClipStatus.QUEUED)
    assert acme.client.post("/v1/shares", body).json()["code"] == "nothing_to_share"


@pytest.mark.parametrize("gone", [{"status": VideoStatus.DELETING}, {"source_deleted_at": "2026-01-01T00:00:00Z"}])
def test_a_recording_that_is_deleted_is_not_shown(acme: Cast, video: UUID, gone: dict[str, Any]) -> None:
    made = share(acme, video_id=encode("vid", video))
    span = share(acme, video_id=encode("vid", video), start_ms=0)
    with acme.scope():
        Video.objects.filter(id=video).update(**gone)

    assert [opened(one).status_code for one in (made, span)] == [404, 404]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"question_id": "Q", "expires_at": in_days(-1)}, 400, "in_the_past"),
        ({"question_id": "Q", "expires_at": in_days(91)}, 400, "too_far_ahead"),
        ({"question_id": "Q"}, 400, "required"),
        ({"expires_at": in_days(1)}, 400, "one_required"),
        ({"question_id": "Q", "video_id": "V", "expires_at": in_days(1)}, 400, "one_required"),
        ({"question_id": "Q", "end_ms": 1, "expires_at": in_days(1)}, 400, "one_required"),
        ({"question_id": "Q", "start_ms": 1, "expires_at": in_days(1)}, 400, "one_required"),
        ({"video_id": "V", "start_ms": 5, "end_ms": 5, "expires_at": in_days(1)}, 400, "out_of_order"),
    ],
)
def test_a_share_names_one_thing_and_an_end(
    acme: Cast, question: UUID, video: UUID, body: dict[str, Any], status: int, code: str
) -> None:
    named = {"question_id": encode("qst", question), "video_id": encode("vid", video)}

    reply = acme.client.post("/v1/shares", {**body, **{name: named[name] for name in named if name in body}})

    assert (reply.status_code, reply.json()["errors"][0]["code"]) == (status, code)
    with acme.scope():
        assert not Share.objects.exists()


def test_a_question_without_an_answer_cannot_be_shared(acme: Cast, question: UUID) -> None:
    for status in (QuestionStatus.QUEUED, QuestionStatus.FAILED):
        with acme.scope():
            Question.objects.update(status=status)
        body = {"question_id": encode("qst", question), "expires_at": in_days(1)}
        assert acme.client.post("/v1/shares", body).json()["code"] == "nothing_to_share"


@pytest.mark.parametrize(
    ("ending", "said"),
    [
        (("insufficient_evidence", "no_consensus", ""), "No answer was found in the recordings."),
        (("insufficient_evidence", "unsupported", "A man leaves."), "No answer was found in the recordings."),
        (("refused", "model_refused", ""), "No answer was given to this question."),
        (("budget", "own_limit", ""), "The search ended at its limit before an answer was found."),
    ],
)
def test_a_question_without_an_answer_is_shown_with_what_was_looked_at(
    acme: Cast, question: UUID, ending: tuple[str, str, str], said: str
) -> None:
    reason, detail, text = ending
    with acme.scope():
        Question.objects.update(finish_reason=reason, finish_detail=detail, answer=text, start_ms=3_000)
        QuestionVideo.objects.update(indexed_until_ms=9_000)

    made = of_question(acme, question)

    page = opened(made).content.decode()
    framed = Client().get(urlsplit(made["url"]).path, {"embed": "1"}).content.decode()
    for shown in ("Who leaves?", said, "Recording 1: 00:03–00:09"):
        assert shown in page, shown
        assert shown in framed, shown
    for hidden in ("A man leaves.", "The man goes.", "Backdoor", "/q/x/1.jpg"):
        assert hidden not in page, hidden


def test_an_answer_that_was_redacted_with_a_video_cannot_be_shared(acme: Cast, question: UUID) -> None:
    made = of_question(acme, question)
    with acme.scope():
        Question.objects.update(finish_detail="video_deleted", answer="")

    refused = acme.client.post("/v1/shares", {"question_id": encode("qst", question), "expires_at": in_days(1)})

    assert (refused.status_code, refused.json()["code"]) == (409, "nothing_to_share")
    assert opened(made).status_code == 404


def test_nobody_shares_what_they_may_not_read_or_for_longer_than_their_key(
    acme: Cast, globex: Cast, question: UUID, video: UUID
) -> None:
    until = timezone.now() + timedelta(hours=1)
    with acme.scope():
        _, only_shares = issue_api_key(name="a", scopes=["shares:write"])
        _, ending = issue_api_key(name="b", scopes=["*"], expires_at=until)
    asked = {"question_id": encode("qst", question), "expires_at": in_days(1)}
    played = {"video_id": encode("vid", video), "expires_at": in_days(1)}

    for client, body, answer in (
        (with_key(only_shares), asked, (403, "insufficient_scope")),
        (with_key(only_shares), played, (403, "insufficient_scope")),
        (with_key(ending), asked, (403, "beyond_maker")),
        (globex.client, asked, (404, "not_found")),
        (globex.client, played, (404, "not_found")),
    ):
        reply = client.post("/v1/shares", body)
        assert (reply.status_code, reply.json()["code"]) == answer
    with acme.scope():
        assert not Share.objects.exists()


def test_a_limited_member_shares_and_sees_the_own_collections_alone(acme: Cast, question: UUID, video: UUID) -> None:
    with acme.scope():
        park = Collection.objects.create(tenant_id=acme.tenant_id, name="park")
    eve = person("eve")
    member_of(acme, "analyst", eve, collection_ids=[str(park.id)])
    browser = Browser(eve, acme.slug)
    others = [of_question(acme, question), share(acme, video_id=encode("vid", video))]
    asked = {"question_id": encode("qst", question), "expires_at": in_days(1)}
    played = {"video_id": encode("vid", video), "expires_at": in_days(1)}

    assert browser.api("GET", "/v1/shares").json()["data"] == []
    for one in others:
        assert browser.api("GET", f"/v1/shares/{one['id']}").status_code == 404
        assert browser.api("DELETE", f"/v1/shares/{one['id']}").status_code == 404
    assert [browser.api("POST", "/v1/shares", body).status_code for body in (asked, played)] == [404, 404]
    with acme.scope():
        Video.objects.filter(id=video).update(collection=park)
    assert len(browser.api("GET", "/v1/shares").json()["data"]) == 2
    made = browser.api("POST", "/v1/shares", asked)
    assert made.status_code == 201
    assert made.json()["created_by"] == encode("per", eve.id)


def test_making_and_ending_a_share_are_in_the_audit_log(acme: Cast, question: UUID) -> None:
    made = of_question(acme, question)
    acme.client.delete(f"/v1/shares/{made['id']}")

    ended_by, made_by = acme.client.get("/v1/audit-events", {"resource_id": made["id"]}).json()["data"]

    assert (made_by["action"], ended_by["action"]) == ("share.created", "share.revoked")
    assert made_by["details"] == {"question_id": made["question_id"], "expires_at": made["expires_at"]}


def test_a_link_that_is_passed_around_is_throttled_for_itself_alone(
    acme: Cast, question: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, other = of_question(acme, question), of_question(acme, question)
    monkeypatch.setattr(pages, "VIEWS_PER_MINUTE", 2)

    answers = [opened(made).status_code for _ in range(3)]

    assert answers == [200, 200, 429]
    assert opened(other).status_code == 200
    assert acme.client.get(f"/v1/shares/{made['id']}").json()["views"] == 2


def test_guesses_of_links_use_up_the_requests_of_an_address(acme: Cast) -> None:
    with override_settings(ADDRESS_RATE_PER_MINUTE=61):
        client = Client(REMOTE_ADDR="198.51.100.77")
        answers = [client.get("/share/" + "B" * 43).status_code for _ in range(3)]
    assert answers == [404, 404, 429]


def test_a_page_takes_nothing_but_reads(acme: Cast, question: UUID) -> None:
    path = urlsplit(of_question(acme, question)["url"]).path
    assert [Client().generic(method, path).status_code for method in ("POST", "PUT", "DELETE")] == [405, 405, 405]
