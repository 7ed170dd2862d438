"""A process starts with the secrets that it uses, reads no others, and does not start without its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest

from backend.env import SIGNER_KEYS

OWN = ("AVA_SECRET_KEY", "AVA_KEY_PEPPERS", "AVA_ENCRYPTION_KEYS", "AVA_CACHE_SALT_KEY", "AVA_SIGNER_KEY")
OF_CLASSES = {name: f"secret of {queue}" for queue, name in SIGNER_KEYS.items()}
SHOW = """
import django, json
django.setup()
from django.conf import settings
read = settings._wrapped  # SECRET_KEY of `settings` itself refuses to be empty
print(json.dumps([read.SECRET_KEY, read.KEY_PEPPERS, read.ENCRYPTION_KEYS, read.CACHE_SALT_KEY]))
"""


def started(process: str, **secrets: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name not in OWN}
    environment |= {"AVA_PROCESS": process, "DJANGO_SETTINGS_MODULE": "backend.settings", **secrets}
    return subprocess.run([sys.executable, "-c", SHOW], env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("process", "given", "read"), [
    ("worker", {"AVA_CACHE_SALT_KEY": "salt"}, ["", {}, {}, "salt"]),
    ("worker", {"AVA_CACHE_SALT_KEY": "salt", "AVA_KEY_PEPPERS": "1:p", "AVA_SECRET_KEY": "s"}, ["", {}, {}, "salt"]),
    ("signer", OF_CLASSES, ["", {}, {}, ""]),
    ("webhooks", {"AVA_ENCRYPTION_KEYS": "1:e"}, ["", {}, {"1": "e"}, ""]),
    ("api", {"AVA_SECRET_KEY": "s", "AVA_KEY_PEPPERS": "1:p", "AVA_ENCRYPTION_KEYS": "1:e"},
     ["s", {"1": "p"}, {"1": "e"}, "s"]),
    ("console", {"AVA_SECRET_KEY": "s", "AVA_KEY_PEPPERS": "1:p", "AVA_ENCRYPTION_KEYS": "1:e"},
     ["s", {"1": "p"}, {"1": "e"}, "s"]),
])  # fmt: skip
def test_each_process_reads_its_own_secrets(process: str, given: dict[str, str], read: list[object]) -> None:
    done = started(process, **given)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == read


@pytest.mark.parametrize(("process", "given", "missing"), [
    ("worker", {"AVA_SECRET_KEY": "s", "AVA_KEY_PEPPERS": "1:p"}, "AVA_CACHE_SALT_KEY"),
    ("worker", {"AVA_CACHE_SALT_KEY": "salt", "AVA_SIGNER_URL": "http://signer:8400/"}, "AVA_SIGNER_KEY"),
    ("signer", {"AVA_SIGNER_KEY": "k"}, "AVA_SIGNER_KEY_PROBE"),
    ("signer", {**OF_CLASSES, "AVA_SIGNER_KEY_QUERY": ""}, "AVA_SIGNER_KEY_QUERY each need a secret of their own"),
    ("signer", {**OF_CLASSES, "AVA_SIGNER_KEY_QUERY": "secret of gpu.index"}, "each need a secret of their own"),
    ("webhooks", {"AVA_CACHE_SALT_KEY": "salt"}, "AVA_ENCRYPTION_KEYS"),
    ("api", {"AVA_SECRET_KEY": "s", "AVA_ENCRYPTION_KEYS": "1:e"}, "AVA_KEY_PEPPERS"),
    ("console", {"AVA_SECRET_KEY": "s", "AVA_ENCRYPTION_KEYS": "1:e"}, "AVA_KEY_PEPPERS"),
    ("relay", {}, "AVA_PROCESS"),
])  # fmt: skip
def test_a_process_without_its_secrets_does_not_start(process: str, given: dict[str, str], missing: str) -> None:
    done = started(process, **given)
    assert done.returncode == 1
    assert re.search(rf"{missing}( is|$)", done.stderr, flags=re.M)
