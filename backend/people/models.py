"""People who sign in: members of tenants, and staff of the operator."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.db import models
from django.db.models.functions import Lower
from uuid6 import uuid7


def written_email(address: str) -> str:
    """Return an e-mail address as it is stored and compared: without spaces at its ends, in lower case."""
    return address.strip().lower()


class People(BaseUserManager["Person"]):
    """Creates people. Without a password nobody can sign in by password."""

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> Person:
        """Create a person. Raises ValueError without an address, IntegrityError if the address is taken."""
        address = written_email(email)
        if not address:
            raise ValueError("a person has an e-mail address")
        person = self.model(email=address, **fields)
        person.set_password(password)
        person.save(using=self._db)
        return person

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> Person:
        return self.create_user(email, password, **{**fields, "is_staff": True, "is_superuser": True})

    def get_by_natural_key(self, username: str | None) -> Person:
        return self.get(email=written_email(username or ""))


class Person(AbstractBaseUser, PermissionsMixin):
    """One human being, known by an e-mail address. Staff of the operator are never members of a tenant."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    email = models.EmailField(unique=True)
    name = models.CharField(max_length=200, default="", blank=True)
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    objects: ClassVar[People] = People()

    class Meta:
        verbose_name_plural = "people"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # Two spellings of one address would be two people.
            models.CheckConstraint(condition=models.Q(email=Lower("email")), name="people_person_email_lower"),
        ]

    def __str__(self) -> str:
        return self.email

    def get_full_name(self) -> str:
        return self.name or self.email

    def get_short_name(self) -> str:
        return self.get_full_name()
