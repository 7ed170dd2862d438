"""Prices by method, effort, profile and stages: from the console's editor over API and workers to the invoice."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

import pytest
from django.conf import settings
from django.test import override_settings
from django.utils import timezone

from backend.api.public_ids import encode
from backend.billing.models import Budget, Price, PriceBook, Reservation
from backend.billing.services.invoicing.closing import close_tenant
from backend.console.site_settings import console_settings
from backend.library.indexing.begin import create_video, enqueue_probe
from backend.library.services.media_quota import PIECE, hold_media
from backend.library.storage import ObjectStorage, source_key
from backend.tenancy.refusals import Refused
from gpu_workers.tasks import models
from tests.billing.violated import settled_violations
from tests.conftest import Cast
from tests.console.signing_in import appointed
from tests.scripted_openai import ScriptedOpenAIServer
from tests.tasks.test_answer_jobs import CHOICES, saying
from tests.tasks.world import TWELVE_SECONDS, recording, run_due

# One process for these files, because the models are loaded once.
pytestmark = pytest.mark.slow

D = Decimal


def enter(**prices: str) -> None:
    """Append prices to the standard book by the console's editor. prices: meter__first__second, "" for "any"."""
    start = timezone.now()
    with override_settings(**console_settings("http://testserver", settings.MIDDLEWARE)):
        browser = appointed("finance")
        for name, amount in prices.items():
            meter, first, second = (*name.split("__"), "", "")[:3]
            form = {
                "book": str(PriceBook.objects.get(code="standard").id), "meter": meter, "model": "",
                "variant": f"{first}:{second}" if second else first, "unit_amount": amount, "note": "Agreed with sales",
                "effective_from_0": f"{start:%Y-%m-%d}", "effective_from_1": f"{start:%H:%M:%S}",
            }  # fmt: skip
            reply = browser.post("/console/billing/price/add/", form)
            assert reply.status_code == 302, reply.content.decode()


def recorded(cast: Cast, profile: str) -> str:
    """Store twelve seconds like a completed upload and index them. Returns the public id of the video."""
    content = recording(TWELVE_SECONDS)
    key = source_key(cast.tenant_id, uuid4())
    ObjectStorage().put(key, content, content_type="video/mp4")
    with cast.scope():
        video = create_video(
            object_key=key, size_bytes=len(content), title="scenes", profile=profile, input_closed_at=timezone.now()
        )
        enqueue_probe(video.id)
    run_due()
    return encode("vid", video.id)


def invoice_lines(cast: Cast, meter: str) -> list[tuple[str, str, str, int]]:
    """Close the month and return the lines of its invoice: variant, quantity, exact amount, price version."""
    close_tenant(cast.tenant_id, now=timezone.now() + timedelta(days=35))
    (invoice,) = cast.client.get("/v1/invoices").json()["data"]
    lines = cast.client.get(f"/v1/invoices/{invoice['id']}/lines").json()["data"]
    return [
        (line["variant"], line["quantity"], line["exact_amount"], line["price_version"])
        for line in lines
        if line["meter"] == meter and line["kind"] == "usage"
    ]


def usage(cast: Cast, groups: str, meter: str) -> dict[tuple[str, ...], tuple[str, str]]:
    """Return quantity and charge by the values of the groups."""
    body = cast.client.get("/v1/usage", {"group_by": f"meter,{groups}", "meter": meter}).json()
    return {
        tuple(line["group"][name] for name in groups.split(",")): (line["quantity"], line["charge"]["amount"])
        for line in body["data"]
    }


@pytest.mark.long
def test_a_question_is_charged_by_its_method_and_effort_from_the_editor_to_the_invoice(
    acme: Cast, vlm: ScriptedOpenAIServer, llm: ScriptedOpenAIServer
) -> None:
    enter(questions__caption_rag="0.033", questions__caption_rag__high="0.044", questions____low="0.005")
    llm.script = saying(lambda request: "B")
    video = recorded(acme, "general")
    prices = {
        ("ava", "low"): "0.01",  # the book's own price of ava:low goes before that of low effort
        ("ava", "medium"): "0.02",
        ("caption_rag", "low"): "0.033",  # the method goes before the effort
        ("caption_rag", "high"): "0.044",
        ("uniform", "low"): "0.005",
    }
    asked = {}
    for (method, effort), price in prices.items():
        body = {"method": method, "effort": effort}
        estimated = acme.client.post("/v1/questions:estimate", body, format="json").json()
        assert (estimated["charge"]["expected"], estimated["charge"]["high"]) == (price, price)
        body |= {"question": "What do the dogs chase?", "choices": CHOICES, "video_ids": [video]}
        reply = acme.client.post("/v1/questions", body, format="json")
        assert (reply.status_code, reply.json()["charge"]["amount"]) == (202, price)
        asked[method, effort] = reply.json()["id"]
    # Held until the answers are stored, and booked at the same amounts.
    with acme.scope():
        held = Reservation.objects.filter(source_type="question", settled_at=None).order_by("charge")
        assert [(row.charge, row.drawn_charge) for row in held] == [(D(p), D(p)) for p in sorted(prices.values())]
    # Its looks at frames have no part in this test.
    assert acme.client.post(f"/v1/questions/{asked['uniform', 'low']}/cancel").status_code == 200
    run_due()

    charged = {pair: price for pair, price in prices.items() if pair[0] != "uniform"}
    for pair, id in asked.items():
        body = acme.client.get(f"/v1/questions/{id}").json()
        assert (body["finish_reason"], body["charge"]["amount"]) == (
            ("answered", charged[pair]) if pair in charged else ("canceled", "0")
        )
    with acme.scope():
        assert not Reservation.objects.filter(settled_at=None).exists()
    assert usage(acme, "method,effort", "questions") == {
        pair: ("1", prices[pair]) if pair in charged else ("0", "0") for pair in prices
    }
    assert settled_violations(acme) == {}
    assert invoice_lines(acme, "questions") == [(":".join(pair), "1", charged[pair], 1) for pair in sorted(charged)]


@pytest.mark.long
def test_media_is_charged_by_profile_and_stages_from_the_editor_to_the_invoice(
    acme: Cast, vlm: ScriptedOpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter(
        media_seconds__traffic="0.002",
        media_seconds__traffic__observer="0.001",
        media_seconds____observer="0.0003",
    )

    def estimated(profile: str) -> list[str]:
        body = {"duration_ms": 12_000, "profile": profile}
        charge = acme.client.post("/v1/videos:estimate", body, format="json").json()["charge"]
        return [charge["low"], charge["expected"], charge["high"]]

    # Described by a model: 12 s at 0.002 and at 0.0007. The observer alone would cost less, so the low end is lower.
    assert estimated("traffic") == ["0.012", "0.024", "0.024"]
    assert estimated("general") == ["0.0036", "0.0084", "0.0084"]
    described = {profile: recorded(acme, profile) for profile in ("traffic", "general")}
    monkeypatch.delenv("DESCRIBER_URL")
    monkeypatch.delenv("DESCRIBER_MODEL")
    models.index_models.cache_clear()
    observed = {profile: recorded(acme, profile) for profile in ("traffic", "general")}
    # The latest recording was observed, and so will the next one be.
    assert estimated("traffic") == ["0.012", "0.012", "0.024"]

    charges = {
        name: acme.client.get(f"/v1/videos/{id}").json()["charge"]["amount"]
        for name, id in (
            ("traffic:full", described["traffic"]), ("general:full", described["general"]),
            ("traffic:observer", observed["traffic"]), ("general:observer", observed["general"]),
        )
    }  # fmt: skip
    assert charges == {
        "traffic:full": "0.024", "general:full": "0.0084", "traffic:observer": "0.012", "general:observer": "0.0036",
    }  # fmt: skip
    assert usage(acme, "profile", "media_seconds") == {("traffic",): ("24", "0.036"), ("general",): ("24", "0.012")}
    with acme.scope():
        assert not Reservation.objects.filter(settled_at=None).exists()
    assert settled_violations(acme) == {}
    assert invoice_lines(acme, "media_seconds") == [
        ("general:full", "12", "0.0084", 1), ("general:observer", "12", "0.0036", 1),
        ("traffic:full", "12", "0.024", 1), ("traffic:observer", "12", "0.012", 1),
    ]  # fmt: skip


def test_the_editor_refuses_a_variant_that_no_work_has(acme: Cast) -> None:
    with override_settings(**console_settings("http://testserver", settings.MIDDLEWARE)):
        browser, start = appointed("finance"), timezone.now()
        for meter, variant in (("questions", "ava:lo"), ("media_seconds", "ava:low"), ("searches", "ava")):
            form = {
                "book": str(PriceBook.objects.get(code="standard").id), "meter": meter, "model": "",
                "variant": variant, "unit_amount": "1", "note": "Agreed with sales",
                "effective_from_0": f"{start:%Y-%m-%d}", "effective_from_1": f"{start:%H:%M:%S}",
            }  # fmt: skip
            page = browser.post("/console/billing/price/add/", form)
            assert page.status_code == 200
            assert f"No usage of this meter has the variant {variant}." in page.content.decode()
    assert not Price.objects.exclude(author="migration").exists()


def test_a_growing_recording_holds_the_price_of_live_seconds(acme: Cast) -> None:
    body = {"duration_ms": 60_000, "live": True}
    charge = acme.client.post("/v1/videos:estimate", body, format="json").json()["charge"]
    assert (charge["low"], charge["expected"], charge["high"]) == ("0.06", "0.06", "0.06")
    piece = uuid4()
    with acme.scope():
        # 60 s of an uploaded recording would fit.
        Budget.objects.create(tenant_id=acme.tenant_id, charge=D("0.05"))
    with pytest.raises(Refused) as refused, acme.scope():
        hold_media(PIECE, piece, D(60), profile="general", live=True, api_key_id=acme.key_id)
    assert refused.value.code == "budget_exhausted"
    with acme.scope():
        hold_media(PIECE, piece, D(30), profile="general", live=True, api_key_id=acme.key_id)
        held = Reservation.objects.get(source_id=piece)
        assert (held.amount, held.charge) == (D(30), D("0.03"))
