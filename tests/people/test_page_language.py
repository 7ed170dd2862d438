"""The pages around the app speak the language of the person; the API keeps to English."""

from __future__ import annotations

from babel.messages.pofile import read_po
from django.test import Client

from backend.people.page_language import TRANSLATED
from infra.page_translations import COMPILED, TEXT, compiled, sentences
from tests.conftest import Cast
from tests.people.cast import Browser, member_of

GERMAN = {"accept": "text/html", "accept-language": "de-AT,de;q=0.9,en;q=0.5"}


def test_each_sentence_of_the_templates_is_translated_and_compiled() -> None:
    with TEXT.open("rb") as text:
        known = {message.id for message in read_po(text) if message.string}
    assert set(sentences()) - known == set()
    assert COMPILED.read_bytes() == compiled(), "run make translations"


def test_a_page_is_in_the_language_of_the_browser_or_of_the_choice_in_the_app(database: None) -> None:
    assert TRANSLATED == ("/accounts/", "/share/")
    client = Client()
    german = client.get("/accounts/login/", headers=GERMAN)
    assert '<html lang="de">' in german.content.decode()
    assert "Mit Passkey anmelden" in german.content.decode()
    assert {"Accept-Language", "Cookie"} <= set(german["Vary"].split(", "))
    assert (
        "Sign in with a passkey" in client.get("/accounts/login/", headers={"accept-language": "fr"}).content.decode()
    )
    client.cookies["ava_language"] = "en"
    assert "Sign in with a passkey" in client.get("/accounts/login/", headers=GERMAN).content.decode()
    client.cookies["ava_language"] = "en-XA"
    assert client.get("/accounts/login/", headers=GERMAN).status_code == 200


def test_a_member_reads_german_and_a_program_english(acme: Cast) -> None:
    browser = Browser(member_of(acme, "owner").person, acme.slug)
    page = browser.get("/accounts/", headers=GERMAN).content.decode()
    assert "Ihre Rolle ist Inhaber: darf alles und bestimmt, wer noch Inhaber ist." in page
    assert "API-Schlüssel" in page
    refusal = browser.get("/v1/videos?limit=many", headers={"accept-language": "de", "AVA-Tenant": acme.slug}).json()
    assert "whole number" in str(refusal)
    shared = Client().get("/share/nothing", headers=GERMAN)
    assert "Hier ist nichts" in shared.content.decode()
