"""Certificate authorities of the operator's own, which every client of a process trusts next to the public ones.

Clients read files and no settings: httpx and OpenSSL that of SSL_CERT_FILE, boto3 that of AWS_CA_BUNDLE, requests that
of REQUESTS_CA_BUNDLE. So public and own authorities are written to one file, and the three variables name it.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import certifi
from django.core.exceptions import ImproperlyConfigured

_READ_BY_CLIENTS = ("SSL_CERT_FILE", "AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE")


def trust(file: str) -> None:
    """Trust the authorities in a file (PEM) from now on, in this process and those that it starts; "" for none.

    Raises ImproperlyConfigured if the file cannot be read or holds no certificate.
    """
    if not file:
        return
    folder = Path(tempfile.gettempdir()) / f"ava-authorities-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise ImproperlyConfigured(f"{folder} belongs to another user")
    target = folder / "all.pem"
    public = os.environ.get("SSL_CERT_FILE", "")
    if public == str(target):
        # Inherited from the process that started this one.
        return
    try:
        own = Path(file).read_text(encoding="ascii")
    except (OSError, UnicodeError) as error:
        raise ImproperlyConfigured(f"AVA_CA_FILE={file} cannot be read: {error}") from error
    if "-----BEGIN CERTIFICATE-----" not in own:
        raise ImproperlyConfigured(f"AVA_CA_FILE={file} holds no certificate in PEM")
    scratch = target.with_name(f"{os.getpid()}.pem")
    scratch.write_text(f"{Path(public or certifi.where()).read_text(encoding='utf-8')}\n{own}", encoding="utf-8")
    scratch.replace(target)
    os.environ.update(dict.fromkeys(_READ_BY_CLIENTS, str(target)))
