"""The real servers: first start, second start, kill -9, two stacks side by side."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import httpx
import openai
import psycopg
import pytest
import redis

from infra.local.errors import AlreadyRunning, Misconfigured
from infra.local.seaweedfs import SeaweedFS
from infra.local.stack import Stack

_STORES = frozenset({"postgres", "valkey", "seaweedfs"})
_OWN = {"PATH": os.environ["PATH"]}
"""The only inherited variables: none of an outer stack, such as DATABASE_URL, under which these tests may run."""


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    stack = Stack(tmp_path / "one", _STORES, environ=_OWN)
    yield stack
    stack.stop()
    stack.erase()


def _superuser(stack: Stack) -> psycopg.Connection:
    return psycopg.connect(stack.env()["DATABASE_SUPERUSER_URL"], autocommit=True)


def _s3(stack: Stack) -> SeaweedFS:
    return next(server for server in stack.servers if isinstance(server, SeaweedFS))


def test_a_started_stack_serves_and_keeps_data_and_addresses(stack: Stack) -> None:
    with stack:
        first = stack.env()
        with _superuser(stack) as connection:
            connection.execute("CREATE EXTENSION age")
            connection.execute("CREATE EXTENSION vector")
            connection.execute("CREATE TABLE kept (at vector(3))")
            connection.execute("INSERT INTO kept VALUES ('[1,2,3]')")
        _s3(stack).client().put_object(Bucket="ava", Key="t/kept", Body=b"kept")
        broker = redis.Redis.from_url(first["REDIS_URL"])
        assert broker.ping()
        broker.close()
        stranger = first["REDIS_URL"].replace(":" + first["REDIS_URL"].split(":")[2].split("@")[0] + "@", ":wrong@")
        with pytest.raises(redis.AuthenticationError), redis.Redis.from_url(stranger) as refused:
            refused.ping()
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect(first["DATABASE_SUPERUSER_URL"].replace("postgres:", "postgres:x"))
        assert httpx.get(f"{first['S3_ENDPOINT_URL']}/ava/t/kept").status_code == 403

    assert stack.state.processes() == {}
    with stack:
        assert stack.env() == first
        with _superuser(stack) as connection:
            assert connection.execute("SELECT at::text FROM kept").fetchone() == ("[1,2,3]",)
        assert _s3(stack).client().get_object(Bucket="ava", Key="t/kept")["Body"].read() == b"kept"


def test_committed_data_survives_kill_9_of_every_server(stack: Stack) -> None:
    with stack:
        with _superuser(stack) as connection:
            connection.execute("CREATE TABLE kept AS SELECT generate_series(1, 1000) AS n")
        _s3(stack).client().put_object(Bucket="ava", Key="t/kept", Body=b"kept")
        for server in stack.servers:
            assert server.child is not None
            os.kill(server.child.identity.pid, signal.SIGKILL)

    with stack:
        with _superuser(stack) as connection:
            assert connection.execute("SELECT count(*) FROM kept").fetchone() == (1000,)
        assert _s3(stack).client().get_object(Bucket="ava", Key="t/kept")["Body"].read() == b"kept"


def test_a_browser_may_read_the_etag_of_a_part(stack: Stack) -> None:
    with stack:
        rules = _s3(stack).client().get_bucket_cors(Bucket="ava")["CORSRules"]
        lifecycle = _s3(stack).client().get_bucket_lifecycle_configuration(Bucket="ava")["Rules"]

    assert "ETag" in rules[0]["ExposeHeaders"]
    assert lifecycle[0]["AbortIncompleteMultipartUpload"]["DaysAfterInitiation"] == 2


@pytest.mark.long
def test_two_stacks_run_side_by_side_and_one_root_runs_once(stack: Stack, tmp_path: Path) -> None:
    other = Stack(tmp_path / "two", _STORES, environ=_OWN, durable=False)
    with stack:
        running = stack.state.processes()
        again = Stack(tmp_path / "one", _STORES, environ=_OWN)
        with pytest.raises(AlreadyRunning):
            again.start()
        again.stop()
        assert stack.state.processes() == running
        with other:
            with _superuser(other) as connection:
                connection.execute("CREATE TABLE theirs ()")
            with _superuser(stack) as connection:
                assert connection.execute("SELECT to_regclass('theirs')").fetchone() == (None,)
            assert stack.env()["DATABASE_URL"] != other.env()["DATABASE_URL"]
    other.erase()


def test_a_server_named_by_the_environment_is_not_started(tmp_path: Path) -> None:
    stack = Stack(tmp_path, frozenset({"valkey"}), environ=_OWN | {"REDIS_URL": "redis://elsewhere/0"})

    assert stack.servers == []
    assert stack.env()["REDIS_URL"] == "redis://elsewhere/0"


def test_a_database_named_without_its_roles_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="DATABASE_OWNER_URL"):
        Stack(tmp_path, environ=_OWN | {"DATABASE_URL": "postgresql://elsewhere/ava"})


@pytest.mark.long
def test_the_reasoner_speaks_the_protocol(tmp_path: Path) -> None:
    environ = {**os.environ, "AVA_REASONER": "smollm2", "AVA_LLM_SLOTS": "4", "AVA_LLM_CONTEXT": "4096"}
    environ.pop("REASONER_URL", None)
    schema = {
        "type": "object",
        "properties": {"answer": {"enum": ["A", "B"]}},
        "required": ["answer"],
        "additionalProperties": False,
    }
    with Stack(tmp_path, frozenset({"llama"}), environ=environ) as stack:
        env = stack.env()
        client = openai.OpenAI(base_url=env["REASONER_URL"], api_key=env["REASONER_API_KEY"])

        def ask(samples: int) -> openai.types.chat.ChatCompletion:
            return client.chat.completions.create(
                model=env["REASONER_MODEL"],
                messages=[{"role": "user", "content": "Is the sky blue? A yes, B no. " * 10}],
                n=samples,
                max_tokens=100,
                response_format={
                    "type": "json_schema",
                    "json_schema": {"name": "answer", "strict": True, "schema": schema},
                },
            )

        answers = [choice.message.content for choice in ask(4).choices]
        again = ask(1).usage
        with pytest.raises(openai.BadRequestError):
            ask(5)
        with pytest.raises(openai.AuthenticationError):
            client.with_options(api_key="wrong").models.list()

    assert len(answers) == 4
    assert {json.loads(answer or "")["answer"] for answer in answers} <= {"A", "B"}
    assert again is not None
    assert again.prompt_tokens_details is not None
    assert again.prompt_tokens_details.cached_tokens == again.prompt_tokens - 1
