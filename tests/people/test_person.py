"""People are known by their e-mail address, in whatever case it is written."""

from __future__ import annotations

from uuid import UUID

import pytest
from django.contrib.auth import authenticate
from django.db import IntegrityError, transaction

from backend.people.models import Person


def test_a_person_signs_in_with_the_address_in_any_case(database: None) -> None:
    person = Person.objects.create_user(" Ada@Example.ORG ", "correct horse")

    assert (person.email, UUID(str(person.id)).version) == ("ada@example.org", 7)
    assert authenticate(username="ADA@example.org", password="correct horse") == person
    assert authenticate(username="ada@example.org", password="wrong") is None


def test_one_address_is_one_person(database: None) -> None:
    Person.objects.create_user("ada@example.org")
    for again in ("ada@example.org", "ADA@example.org"):
        with pytest.raises(IntegrityError), transaction.atomic():
            Person.objects.create_user(again)
    with pytest.raises(IntegrityError), transaction.atomic():
        Person.objects.create(email="Bob@example.org")


def test_a_person_without_an_address_is_refused(database: None) -> None:
    with pytest.raises(ValueError, match="e-mail"):
        Person.objects.create_user(" ")
