"""What a chat server shows of itself: its window, and what it can do, by a few tiny requests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from gpu_workers.engine.models.capabilities import (
    DEFAULT_WINDOW,
    ServerReport,
    forget_reports,
    list_models,
    probe,
    report_of,
    served_model,
)
from gpu_workers.engine.models.roles import ChatCapabilities, ModelError
from gpu_workers.engine.models.settings import RoleSettings
from tests.abilities import Abilities
from tests.scripted_openai import ScriptedOpenAIServer


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    forget_reports()
    yield
    forget_reports()


def report(model: str = "scripted", **abilities: Any) -> ServerReport:
    with ScriptedOpenAIServer(model=model, abilities=Abilities(**abilities)) as server:
        found = probe(RoleSettings(server.url, model))
        assert server.requests == []
        return found


def test_a_server_that_can_do_everything() -> None:
    found = report(video=True)
    assert found == ServerReport("scripted", ChatCapabilities(32_768, images=True, video=True), 32_768)


def test_the_requests_are_few_and_tiny() -> None:
    with ScriptedOpenAIServer(abilities=Abilities(video=True)) as server:
        probe(RoleSettings(server.url))
        assert len(server.probes) == 4
        assert all(body["max_tokens"] <= 24 for body in server.probes)
        assert len(str(server.probes)) < 6_000


@pytest.mark.parametrize(
    ("missing", "shown"),
    [
        ({"schemas": False}, {"schemas": False}),
        ({"samples": False}, {"samples": False}),
        ({"log_probabilities": False}, {"log_probabilities": False}),
        ({"window": 4_096}, {"context_tokens": 4_096}),
        ({"images": False}, {"images": False}),
        ({"thinks": "content"}, {"thinks": True}),
        ({"thinks": "reasoning_content"}, {"thinks": True}),
        ({"thinks": "hidden", "stubborn": True}, {"thinks": True}),
    ],
)
def test_each_ability_is_found_alone(missing: dict[str, Any], shown: dict[str, Any]) -> None:
    expected = {"context_tokens": 32_768, "images": True, **shown}
    assert report(**missing).capabilities == ChatCapabilities(**expected)


@pytest.mark.parametrize("nameless", [False, True])
@pytest.mark.parametrize(
    ("refused", "names", "without"),
    [
        ({"temperature"}, ("temperature",), {}),
        ({"logprobs", "top_logprobs"}, ("logprobs",), {"log_probabilities": False}),
        ({"n"}, ("n",), {"samples": False}),
        ({"n", "logprobs"}, ("logprobs", "n"), {"samples": False, "log_probabilities": False}),
    ],
)
def test_a_refused_parameter_is_left_out_and_named(
    nameless: bool, refused: set[str], names: tuple[str, ...], without: dict[str, Any]
) -> None:
    found = report(refuses=frozenset(refused), nameless=nameless)
    assert found.refuses == names
    assert found.capabilities == ChatCapabilities(**{"context_tokens": 32_768, "images": True, **without})


def test_a_server_of_reasoning_models_gets_its_own_limit_of_tokens() -> None:
    with ScriptedOpenAIServer(
        abilities=Abilities(refuses=frozenset({"max_tokens", "temperature"}), thinks="hidden", stubborn=True)
    ) as server:
        found = probe(RoleSettings(server.url))
        assert found.refuses == ("max_tokens", "temperature")
        assert found.capabilities.schemas
        assert all("max_completion_tokens" in body for body in server.probes[1:])


@pytest.mark.parametrize(
    ("listed", "window"),
    [
        ({"context_length": 131_072}, 131_072),
        ({"context_window": 8_192}, 8_192),
        ({"meta": {"n_ctx": 2_048, "n_ctx_train": 32_768}}, 2_048),
        ({}, None),
        ({"max_model_len": "many"}, None),
    ],
)
def test_the_window_is_read_in_each_server_s_words(listed: dict[str, Any], window: int | None) -> None:
    found = report(window=None, listed=listed)
    assert found.reported_window == window
    assert found.capabilities.context_tokens == (window or DEFAULT_WINDOW)


@pytest.mark.parametrize(("listed", "shares"), [({"max_model_len": 4_096}, False), ({"meta": {"n_ctx": 4_096}}, True)])
def test_a_server_with_slots_shares_its_cache_of_prompts(listed: dict[str, Any], shares: bool) -> None:
    assert report(window=None, listed=listed).capabilities.shares_cache is shares


def test_the_table_knows_the_window_and_that_the_model_thinks() -> None:
    found = report("Qwen/Qwen3-14B-AWQ", window=None)
    assert found.capabilities == ChatCapabilities(40_960, images=False, thinks=True), "the table has no pictures for it"


def test_a_configured_window_is_an_upper_limit_and_the_window_itself_where_nobody_knows() -> None:
    with ScriptedOpenAIServer() as server:
        assert report_of(RoleSettings(server.url, context_tokens=8_000)).capabilities.context_tokens == 8_000
        assert report_of(RoleSettings(server.url, context_tokens=99_000)).capabilities.context_tokens == 32_768
        assert len(server.probes) == 4, "asked once per process"
    with ScriptedOpenAIServer(abilities=Abilities(window=None)) as server:
        assert report_of(RoleSettings(server.url, context_tokens=99_000)).capabilities.context_tokens == 99_000


def test_without_a_name_the_only_listed_model_is_taken() -> None:
    with ScriptedOpenAIServer(model="only") as server:
        assert served_model(RoleSettings(server.url)).name == "only"
        assert probe(RoleSettings(server.url)).model == "only"
    with ScriptedOpenAIServer(model="a", abilities=Abilities(listed={"aliases": ["b"]})) as server:
        assert served_model(RoleSettings(server.url, "b")).name == "b"
        with pytest.raises(ModelError, match="lists a, b; name the model"):
            served_model(RoleSettings(server.url))


def error_of(settings: RoleSettings) -> ModelError:
    with pytest.raises(ModelError) as caught:
        probe(settings)
    assert caught.value.retryable
    return caught.value


def test_a_missing_model_is_named_with_those_that_are_there() -> None:
    with ScriptedOpenAIServer(model="Qwen-AWQ") as server:
        error = error_of(RoleSettings(server.url, "Qwen"))
    assert error.code == "model_misconfigured"
    assert str(error) == f"{server.url} does not serve 'Qwen'; it lists Qwen-AWQ"


def test_a_wrong_key_and_a_missing_list() -> None:
    with ScriptedOpenAIServer(abilities=Abilities(key="right")) as server:
        assert error_of(RoleSettings(server.url, api_key="wrong")).code == "model_misconfigured"
        assert probe(RoleSettings(server.url, api_key="right")).model == "scripted"
    with ScriptedOpenAIServer(abilities=Abilities(models_status=404)) as server:
        assert list_models(RoleSettings(server.url)) is None
        assert probe(RoleSettings(server.url, "scripted")).reported_window is None
        assert error_of(RoleSettings(server.url)).code == "model_misconfigured"
        assert "HTTP 404" in str(error_of(RoleSettings(server.url, "another")))


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (401, "model_misconfigured"),
        (404, "model_misconfigured"),
        (429, "model_unavailable"),
        (503, "model_unavailable"),
    ],
)
def test_a_failing_server_is_an_error_that_passes_and_is_asked_again(status: int, code: str) -> None:
    with ScriptedOpenAIServer(abilities=Abilities(status=status)) as server:
        settings = RoleSettings(server.url)
        with pytest.raises(ModelError) as caught:
            report_of(settings)
        assert (caught.value.code, caught.value.retryable) == (code, True)
        server.abilities = Abilities()
        assert report_of(settings).model == "scripted", "a failure is not remembered"


def test_nobody_answers() -> None:
    with ScriptedOpenAIServer() as server:
        url = server.url
    assert error_of(RoleSettings(url)).code == "model_unavailable"


class Page(Abilities):
    def models(self, name: str, authorization: str) -> tuple[int, Mapping[str, Any]]:
        return 200, {"page": "Welcome"}


def test_a_page_is_no_list_of_models() -> None:
    with ScriptedOpenAIServer(abilities=Page()) as server:
        assert "does the URL end in /v1?" in str(error_of(RoleSettings(server.url)))
