"""The operator's staff: what each may do, whose content they may open and until when, and what they did."""

from __future__ import annotations

from typing import Any

from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models
from uuid6 import uuid7

from backend.people.models import Person


class Role(models.TextChoices):
    # Sees that something is wrong, and never what a customer recorded or asked.
    SUPPORT = "support", "support"
    # The same, and opens the content of one tenant for a reason and a time.
    SUPPORT_CONTENT = "support_content", "support with content"
    FINANCE = "finance", "finance"
    OPERATOR = "operator", "operator"


class Member(models.Model):
    """One person of the staff. Nobody else can sign in to the console."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    person = models.OneToOneField(Person, on_delete=models.CASCADE, related_name="+")
    role = models.CharField(max_length=16, choices=Role)
    created_at = models.DateTimeField(auto_now_add=True)
    # The operator's code with which the person sets up the first second factor, as a digest, and its end.
    enrolment_digest = models.BinaryField(max_length=32, null=True)
    enrolment_until = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.person.email}: {self.role}"


class SecondFactor(models.Model):
    """The authenticator app of one person (TOTP, RFC 6238). It lies apart from customers' factors, which the API reads.

    secret: sealed. last_step: time step of the last code that was accepted, so that no code is accepted twice.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    person = models.OneToOneField(Person, on_delete=models.CASCADE, related_name="+")
    secret = models.BinaryField(max_length=512)
    last_step = models.BigIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)


class Passkey(models.Model):
    """A passkey of one person (WebAuthn), as a second factor next to the authenticator app or in its place.

    credential: public key and id of the credential, as the authenticator attested them. sign_count: the authenticator's
    counter at its last use, 0 for an authenticator that does not count.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=60)
    credential_id = models.BinaryField(max_length=1024, unique=True)
    credential = models.BinaryField(max_length=4096)
    sign_count = models.BigIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    used_at = models.DateTimeField(null=True)


class RecoveryCode(models.Model):
    """A code that signs one person in once in the place of a lost factor. digest: SHA-256 of the code."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="+")
    digest = models.BinaryField(max_length=32)
    created_at = models.DateTimeField(auto_now_add=True)
    used_at = models.DateTimeField(null=True)


class Session(AbstractBaseSession):
    """A browser's session with the console. It lies apart from customers' sessions, which the API reads and writes."""

    @classmethod
    def get_session_store_class(cls) -> type[SessionStore]:
        return SessionStore


class SessionStore(DatabaseStore):
    """Django's store over Session. Django finds it by this name (SESSION_ENGINE)."""

    @classmethod
    def get_model_class(cls) -> type[Session]:
        return Session


class ContentAccess(models.Model):
    """The right of one person to open the content of one tenant, for a stated reason and until a time."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="+")
    tenant_id = models.UUIDField()
    reason = models.CharField(max_length=500)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["person", "tenant_id", "expires_at"], name="staff_access_open")]


class StaffEvent(models.Model):
    """One act of staff that concerns no tenant, or an attempt to sign in; nobody changes or deletes it.

    email: the account as it was named, which need not exist.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    occurred_at = models.DateTimeField(auto_now_add=True)
    action = models.CharField(max_length=64)
    email = models.CharField(max_length=254, default="")
    address = models.GenericIPAddressField(null=True)
    request_id = models.CharField(max_length=64, default="")
    details: Any = models.JSONField(default=dict)

    class Meta:
        indexes = [models.Index(fields=["email", "action", "occurred_at"], name="staff_event_by_email")]
