"""`manage.py check --deploy` names the settings that are missing or contradict each other."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import pytest
from django.core.checks import Error
from django.db import connections
from django.test import override_settings

from backend.api.monitoring.deployment import check_deployment, model_messages
from gpu_workers.engine.models.model_table import Preset, table
from infra.presets.environment import environment

ROOT = Path(__file__).parents[2]
LONG = "x" * 40
SOUND = {
    "PUBLIC_URL": "https://ava.example.com",
    "ALLOWED_HOSTS": ["ava.example.com"],
    "S3_ENDPOINT_URL": "https://s3.ava.example.com",
    "SECRET_KEY": LONG + "a",
    "KEY_PEPPERS": {1: LONG + "b"},
    "ENCRYPTION_KEYS": {1: LONG + "c"},
    "DEBUG": False,
    "HEARTBEAT_SECONDS": 5,
    "LEASE_SECONDS": 60,
    "WEBHOOK_ALLOW_PRIVATE": False,
    "SOURCE_ALLOW_PRIVATE": False,
}
"""Settings of a deployment without a fault."""
SOUND_ENV = {"REASONER_URL": "http://reasoner:8000/v1", "REASONER_MODEL": "m", "MODEL_API_KEY": "k"}


def faults(env: dict[str, str], **changed: object) -> dict[str, str]:
    """Return the messages of a deployment by id."""
    found: dict[str, str] = {}
    with patch.dict(os.environ, env, clear=True), override_settings(**{**SOUND, **changed}):
        for message in check_deployment(app_configs=None):
            found[str(message.id)] = f"{found.get(str(message.id), '')} {message.msg}"
    return found


def test_a_sound_deployment_has_no_fault() -> None:
    assert faults(SOUND_ENV) == {}


@pytest.mark.parametrize("preset", table().presets.values(), ids=lambda preset: preset.name)
def test_every_preset_is_sound_with_its_key(preset: Preset) -> None:
    given = {**environment(preset), "MODEL_API_KEY": "k"}
    if not preset.roles:
        given |= {
            "REASONER_URL": "https://provider.example/v1",
            "REASONER_MODEL": "m",
            "DESCRIBER_URL": "https://provider.example/v1",
            "DESCRIBER_MODEL": "v",
        }

    assert model_messages(given) == []


def test_a_model_in_the_worker_s_process_needs_no_server() -> None:
    given = {**SOUND_ENV, "TEXT_EMBEDDER_MODEL": "multilingual-e5-small", "TRANSCRIBER_MODEL": "whisper-base"}
    assert model_messages(given) == []
    on_card = {"MODEL_PRESET": "gpu-24gb"}
    assert not [one for one in model_messages(on_card) if one.id == "ava.E002" and "TRANSCRIBER" in one.msg]


@pytest.mark.parametrize(
    ("env", "id_", "named"),
    [
        ({**SOUND_ENV, "MODEL_PRESET": "gpu-48gb"}, "ava.E002", "FRAME_EMBEDDER_URL"),
        ({}, "ava.E003", "REASONER_URL"),
        ({**SOUND_ENV, "CHECKER_MODEL": "strong"}, "ava.E004", "CHECKER_MODEL"),
        ({**SOUND_ENV, "DESCRIBER_API_KEY": "k"}, "ava.E004", "DESCRIBER_API_KEY"),
        ({**SOUND_ENV, "MODEL_PRESET": "openai"}, "ava.E001", "MODEL_PRESET"),
        ({**SOUND_ENV, "MODEL_DEVICE": "gpu"}, "ava.E001", "MODEL_DEVICE"),
        ({**SOUND_ENV, "MODEL_PRESET": "hosted"}, "ava.W001", "DESCRIBER_URL"),
        ({"REASONER_URL": "http://r:8000/v1", "MODEL_API_KEY": "k"}, "ava.W002", "REASONER_MODEL"),
        ({**SOUND_ENV, "REASONER_URL": "http://provider.example.com/v1"}, "ava.W003", "REASONER_URL"),
        ({**SOUND_ENV, "MODEL_API_KEY": ""}, "ava.W004", "REASONER"),
        ({**SOUND_ENV, "S3_ACCESS_KEY_ID": "k"}, "ava.E008", "S3_SECRET_ACCESS_KEY"),
    ],
)
def test_a_fault_of_the_environment_is_named(env: dict[str, str], id_: str, named: str) -> None:
    found = faults(env)

    assert id_ in found
    assert named in found[id_]


@pytest.mark.parametrize(
    ("changed", "id_", "named"),
    [
        ({"PUBLIC_URL": "http://ava.example.com"}, "ava.E005", "AVA_PUBLIC_URL"),
        ({"ALLOWED_HOSTS": ["localhost"]}, "ava.E006", "AVA_ALLOWED_HOSTS"),
        ({"S3_ENDPOINT_URL": "http://s3.localhost:8333"}, "ava.E007", "S3_ENDPOINT_URL"),
        ({"SECRET_KEY": "short"}, "ava.E009", "AVA_SECRET_KEY"),
        ({"KEY_PEPPERS": {1: "short", 2: LONG}}, "ava.E009", "AVA_KEY_PEPPERS"),
        ({"ENCRYPTION_KEYS": {1: LONG + "b"}}, "ava.E010", "AVA_ENCRYPTION_KEYS"),
        ({"DEBUG": True}, "ava.E011", "AVA_DEBUG"),
        ({"HEARTBEAT_SECONDS": 5, "LEASE_SECONDS": 9}, "ava.E012", "AVA_HEARTBEAT_SECONDS"),
        ({"HEARTBEAT_SECONDS": 6}, "ava.W006", "AVA_HEARTBEAT_SECONDS"),
        ({"SOURCE_ALLOW_PRIVATE": True}, "ava.W005", "AVA_SOURCE_ALLOW_PRIVATE"),
    ],
)
def test_a_fault_of_a_setting_is_named(changed: dict[str, object], id_: str, named: str) -> None:
    found = faults(SOUND_ENV, **changed)

    assert set(found) == {id_}
    assert named in found[id_]


def test_a_host_without_a_domain_is_sound() -> None:
    local = {"PUBLIC_URL": "http://127.0.0.1:8000", "ALLOWED_HOSTS": ["127.0.0.1"]}

    assert faults(SOUND_ENV, **local, S3_ENDPOINT_URL="http://s3.localhost:8333") == {}


def test_errors_stop_the_command() -> None:
    env = {**os.environ, "AVA_DEBUG": "true", "AVA_PUBLIC_URL": "http://ava.example.com"}
    command = [sys.executable, "manage.py", "check", "--deploy"]
    checked = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=120)

    assert checked.returncode == 1
    assert {"ava.E005", "ava.E011"} <= set(checked.stderr.replace("(", " ").replace(")", " ").split())


def test_a_message_says_what_to_do_about_a_missing_server() -> None:
    found = [message for message in model_messages({"MODEL_PRESET": "gpu-24gb"}) if message.id == "ava.E002"]

    assert all(isinstance(message, Error) and message.hint for message in found)
    assert len(found) == 6  # describer, checker, reasoner and the three embedders


def test_migrations_do_not_wait_for_a_lock_without_end() -> None:
    with connections["owner"].cursor() as cursor:
        cursor.execute("SHOW lock_timeout")
        assert cursor.fetchone() == ("30s",)
        cursor.execute("SHOW search_path")
        assert cursor.fetchone() == ("public, ag_catalog",)
    connections["owner"].close()
