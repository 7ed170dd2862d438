"""Typed readers of the environment: a missing or malformed setting stops the process with the setting's name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured


def text(name: str, default: str | None = None) -> str:
    value = os.environ.get(name, default)
    if value is None:
        raise ImproperlyConfigured(f"{name} is not set")
    return value


def integer(name: str, default: int | None = None, *, least: int | None = None) -> int:
    raw = os.environ.get(name)
    if raw is None:
        if default is None:
            raise ImproperlyConfigured(f"{name} is not set")
        return default
    try:
        value = int(raw)
    except ValueError:
        raise ImproperlyConfigured(f"{name} is not a whole number") from None
    if least is not None and value < least:
        raise ImproperlyConfigured(f"{name} is {value}, the least allowed is {least}")
    return value


def boolean(name: str, default: bool) -> bool:
    raw = os.environ.get(name)
    if raw is None:
        return default
    if raw.lower() in {"1", "true", "yes", "on"}:
        return True
    if raw.lower() in {"0", "false", "no", "off"}:
        return False
    raise ImproperlyConfigured(f"{name} is neither true nor false")


def choice(name: str, default: str, choices: Sequence[str]) -> str:
    value = os.environ.get(name, default)
    if value not in choices:
        raise ImproperlyConfigured(f"{name} is {value}, it can be {', '.join(choices)}")
    return value


def words(name: str, default: str = "") -> list[str]:
    return [word.strip() for word in text(name, default).split(",") if word.strip()]


def address(name: str, default: str) -> tuple[str, int] | None:
    """Read host:port; None for an empty value. Raises ImproperlyConfigured."""
    value = text(name, default)
    if not value:
        return None
    host, _, port = value.rpartition(":")
    if not (host and port.isdigit() and 0 < int(port) < 65_536):
        raise ImproperlyConfigured(f"{name} needs host:port, not {value!r}")
    return host, int(port)


def numbers(name: str, default: str) -> dict[str, float]:
    """Read "name=number,name=number" with numbers above 0. Raises ImproperlyConfigured."""
    values: dict[str, float] = {}
    for entry in words(name, default):
        key, _, number = entry.partition("=")
        try:
            values[key.strip()] = float(number)
        except ValueError:
            values[key.strip()] = 0.0
        if not key.strip() or not 0.0 < values[key.strip()] < float("inf"):
            raise ImproperlyConfigured(f"{name} needs name=number with numbers above 0, not {entry!r}")
    return values


def optional_database(name: str, *, alias: str) -> dict[str, dict[str, object]]:
    """Return a Django database by its alias; nothing if the variable is not set."""
    return {alias: database(name)} if os.environ.get(name) else {}


def numbered_secrets(name: str) -> dict[int, str]:
    """Return the secrets of `1:secret,2:secret` by number.

    The highest number is used for new work; the others keep older data readable after a rotation.
    """
    secrets: dict[int, str] = {}
    for item in words(name, text(name)):
        number, colon, secret = item.partition(":")
        if not (colon and number.isdigit() and secret):
            raise ImproperlyConfigured(f"{name} is a list of number:secret")
        secrets[int(number)] = secret
    if not secrets:
        raise ImproperlyConfigured(f"{name} holds no secret")
    return secrets


SIGNER_KEYS = {
    "cpu.probe": "AVA_SIGNER_KEY_PROBE",
    "cpu.render": "AVA_SIGNER_KEY_RENDER",
    "io.fetch": "AVA_SIGNER_KEY_FETCH",
    "gpu.index": "AVA_SIGNER_KEY_INDEX",
    "gpu.query": "AVA_SIGNER_KEY_QUERY",
}
"""Classes of jobs that read media, and the signer's variable with the secret of each class."""


def secrets_of_signer() -> dict[str, str]:
    """Return the secret of each class of jobs that reads media. Raises ImproperlyConfigured unless all differ."""
    secrets = {queue: text(name) for queue, name in SIGNER_KEYS.items()}
    if not all(secrets.values()) or len(set(secrets.values())) < len(secrets):
        raise ImproperlyConfigured(f"{', '.join(SIGNER_KEYS.values())} each need a secret of their own")
    return secrets


def mail_server(name: str) -> tuple[str, int, str, str, bool, bool]:
    """Read smtp://, smtp+tls:// or smtps://user:password@host:port. Returns host, port, user, password, whether
    STARTTLS and whether TLS from the start are used; an empty host if the variable is empty."""
    raw = text(name, "")
    if not raw:
        return "", 25, "", "", False, False
    url = urlsplit(raw)
    ports = {"smtp": 25, "smtp+tls": 587, "smtps": 465}
    if url.scheme not in ports or not url.hostname:
        raise ImproperlyConfigured(f"{name} is not an smtp://, smtp+tls:// or smtps:// URL with a host")
    user, password = unquote(url.username or ""), unquote(url.password or "")
    port = url.port or ports[url.scheme]
    return url.hostname, port, user, password, url.scheme == "smtp+tls", url.scheme == "smtps"


KEEPALIVES = {
    "keepalives": 1,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
    "connect_timeout": 10,
}
"""A host that is gone without a word is noticed within 60 s (libpq's names; seconds, tcp_user_timeout in ms)."""


TLS_OPTIONS = frozenset({"sslmode", "sslrootcert", "sslcert", "sslkey", "sslcrl", "sslnegotiation", "channel_binding"})
"""Parameters of a database URL that are handed to libpq. Without sslmode, PGSSLMODE decides."""
_SSL_MODES = frozenset({"disable", "allow", "prefer", "require", "verify-ca", "verify-full"})


def database(name: str, default: str | None = None) -> dict[str, object]:
    """Return a Django database entry for a postgresql:// URL, which may be that of a pooler in transaction mode.

    The URL's query may set TLS_OPTIONS; anything else in it is refused, so that nothing is ignored in silence.

    Nothing is set for the session here: search path and time-outs belong to the roles (backend.tenancy.role_settings),
    because a pooled server connection serves many clients.
    """
    url = urlsplit(text(name, default))
    if url.scheme not in {"postgres", "postgresql"} or not url.hostname or not url.path.strip("/"):
        raise ImproperlyConfigured(f"{name} is not a postgresql:// URL with host and database")
    options = dict(parse_qsl(url.query, keep_blank_values=True))
    if options.keys() - TLS_OPTIONS or options.get("sslmode", "require") not in _SSL_MODES:
        known = ", ".join(sorted(TLS_OPTIONS))
        raise ImproperlyConfigured(f"the query of {name} can set {known}, and sslmode {', '.join(sorted(_SSL_MODES))}")
    return {
        "ENGINE": "backend.tenancy.postgresql",
        "HOST": url.hostname,
        "PORT": str(url.port or 5432),
        "NAME": unquote(url.path.lstrip("/")),
        "USER": unquote(url.username or ""),
        "PASSWORD": unquote(url.password or ""),
        "CONN_MAX_AGE": 300,
        "CONN_HEALTH_CHECKS": True,
        # A cursor of the server would live in a session, and outside a transaction a pooler gives no session.
        "DISABLE_SERVER_SIDE_CURSORS": True,
        "OPTIONS": {"application_name": "ava", **KEEPALIVES, **options},
    }
