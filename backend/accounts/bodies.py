"""API keys, and what their makers made, on the wire."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils import timezone
from rest_framework import serializers

from backend.api.bodies import NameField, StrictSerializer
from backend.api.public_ids import PublicIdField, encode, encode_creator
from backend.tenancy import keys, networks, origins
from backend.tenancy.makers import MadeThing
from backend.tenancy.models import ApiKey

SCOPE_CHOICES = (*keys.SCOPES, keys.ALL_SCOPES)
MAX_OVERLAP_SECONDS = 7 * 86_400
LIVE, TEST = "live", "test"
MODES = (LIVE, TEST)


class ApiKeyRequestSerializer(StrictSerializer):
    name = NameField(max_length=100, help_text="A name that shows what uses the key.")
    scopes = serializers.ListField(
        child=serializers.ChoiceField(SCOPE_CHOICES),
        min_length=1,
        max_length=len(SCOPE_CHOICES),
        help_text="What the key may do; `*` is everything. A key cannot give a scope that it lacks.",
    )
    mode = serializers.ChoiceField(
        MODES,
        default=LIVE,
        help_text="`test` makes a key `vk_test_…`: its work is free, gets scripted answers, and stays apart.",
    )
    expires_at = serializers.DateTimeField(
        required=False,
        allow_null=True,
        help_text="When the key ends; by default with the calling key, and never if that has no end.",
    )
    allowed_ips = serializers.ListField(
        child=serializers.CharField(max_length=64),
        required=False,
        max_length=50,
        help_text="Addresses or networks (CIDR) from which the key may be used; by default those of the calling key.",
    )
    requests_per_minute = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=1_000_000,
        help_text="Limit of this key, within the tenant's; by default that of the calling key.",
    )

    def validate_allowed_ips(self, value: list[str]) -> list[str]:
        try:
            return [networks.network(text) for text in value]
        except ValueError:
            message = "Each entry is an address or a network such as 198.51.100.0/24."
            raise serializers.ValidationError(message, code="invalid_network") from None

    def validate_expires_at(self, value: Any) -> Any:
        if value is not None and value <= timezone.now():
            raise serializers.ValidationError("This is in the past.", code="in_the_past")
        return value


class ApiKeyUpdateRequestSerializer(StrictSerializer):
    name = NameField(max_length=100, help_text="The new name of the key.")


class EndMadeQuerySerializer(StrictSerializer):
    end_made = serializers.BooleanField(
        default=False,
        help_text="End the webhook endpoints and shares of this maker as well. Needs the scopes that end them.",
    )


class MadeThingSerializer(serializers.Serializer[Any]):
    id = serializers.CharField()
    object = serializers.CharField(help_text="`api_key`, `invitation`, `webhook_endpoint` or `share`.")
    created_at = serializers.DateTimeField()
    ends_with_maker = serializers.BooleanField(help_text="Whether it ends when its maker is removed or revoked.")


class MadeThingsSerializer(serializers.Serializer[Any]):
    data = MadeThingSerializer(many=True)  # type: ignore[assignment]  # a field, which the metaclass takes out


class ApiKeyRevocationQuerySerializer(EndMadeQuerySerializer):
    descendants = serializers.BooleanField(
        default=False, help_text="Revoke the keys that this key made, too, and the keys that these made."
    )


class ApiKeyRotationRequestSerializer(StrictSerializer):
    overlap_seconds = serializers.IntegerField(
        min_value=0, max_value=MAX_OVERLAP_SECONDS, default=86_400, help_text="How long the old key keeps working."
    )


class OriginsField(serializers.ListField):
    """A list of origins."""

    def __init__(self, **options: Any) -> None:
        child = serializers.RegexField(origins.ORIGIN.pattern.join(("^(?:", r")\Z")), max_length=300)
        super().__init__(child=child, max_length=origins.MOST_ORIGINS, **options)


class AllowedOriginsRequestSerializer(StrictSerializer):
    origins = OriginsField(
        help_text="Origins such as `https://app.example.com`: scheme and host, with a port if it is not the usual one."
    )
    embed_origins = OriginsField(
        required=False,
        help_text="Origins of web pages that may show your shares in a frame. Left out, they stay as they are.",
    )


class AllowedOriginsSerializer(serializers.Serializer[Any]):
    object = serializers.CharField(default="allowed_origins", read_only=True, help_text="Always `allowed_origins`.")
    origins = serializers.ListField(
        source="allowed", child=serializers.CharField(), help_text="Origins that may use your keys, sorted."
    )
    embed_origins = serializers.ListField(
        source="embed", child=serializers.CharField(), help_text="Origins that may show your shares in a frame, sorted."
    )


class ApiKeySerializer(serializers.Serializer[Any]):
    id = PublicIdField("key")
    object = serializers.CharField()
    name = serializers.CharField(allow_blank=True)
    mode = serializers.ChoiceField(MODES, help_text="`test` if the key works on test objects alone.")
    hint = serializers.CharField(help_text="The beginning of the key, by which you can recognise it.")
    scopes = serializers.ListField(child=serializers.ChoiceField(SCOPE_CHOICES))
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(allow_null=True)
    revoked_at = serializers.DateTimeField(allow_null=True)
    last_used_at = serializers.DateTimeField(allow_null=True, help_text="Exact to the minute.")
    last_used_ip = serializers.CharField(allow_null=True, help_text="Address that the key was last used from.")
    created_by = serializers.CharField(
        allow_null=True, help_text="The key (`key_…`) or person (`per_…`) that made this key; null for the operator."
    )
    allowed_ips = serializers.ListField(
        child=serializers.CharField(), help_text="Networks from which the key may be used; empty for everywhere."
    )
    requests_per_minute = serializers.IntegerField(allow_null=True, help_text="Limit of this key; null for none.")


class ApiKeyWithSecretSerializer(ApiKeySerializer):
    key = serializers.CharField(help_text="The key itself. Keep it: it cannot be read again.")


def api_key_body(key: ApiKey) -> dict[str, Any]:
    """Return a key as customers see it, without its text."""
    return ApiKeySerializer(_fields(key)).data


def api_key_with_secret_body(key: ApiKey, text: str) -> dict[str, Any]:
    """Return a new key with its text."""
    return ApiKeyWithSecretSerializer({**_fields(key), "key": text}).data


def made_things_body(things: Sequence[MadeThing]) -> dict[str, Any]:
    """Return what acts for a maker as customers see it."""
    rows = [
        {
            "id": encode(one.prefix, one.id),
            "object": one.name,
            "created_at": one.created_at,
            "ends_with_maker": one.ends_with_maker,
        }
        for one in things
    ]
    shown = MadeThingsSerializer({"data": rows})
    return dict(shown.to_representation(shown.instance))


def _fields(key: ApiKey) -> dict[str, Any]:
    names = (
        "id", "name", "scopes", "created_at", "expires_at", "revoked_at", "last_used_at", "last_used_ip",
        "allowed_ips", "requests_per_minute",
    )  # fmt: skip
    return {
        "object": "api_key",
        "mode": TEST if key.test else LIVE,
        "hint": key.hint,
        "created_by": encode_creator(person_id=key.created_by_person_id, api_key_id=key.parent_id),
        **{name: getattr(key, name) for name in names},
    }


def audit_details(key: ApiKey) -> dict[str, Any]:
    """Return what the audit log records about a key that is made."""
    return {
        "name": key.name,
        "mode": TEST if key.test else LIVE,
        "scopes": key.scopes,
        "expires_at": key.expires_at and key.expires_at.isoformat(),
        "allowed_ips": key.allowed_ips,
        "requests_per_minute": key.requests_per_minute,
    }
