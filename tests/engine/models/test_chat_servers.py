"""OpenAIChatModel against servers that lack a part of the protocol, are not set up yet, or are overloaded."""

from __future__ import annotations

import json
import logging
import threading
import time
from typing import Any

import pytest

from gpu_workers.engine.models.roles import ChatCapabilities, Message, Meter, ModelError, Video
from gpu_workers.engine.models.served.chat import OpenAIChatModel
from gpu_workers.engine.models.served.dialect import in_words
from gpu_workers.engine.models.served.limiter import FIRST, AdaptiveLimiter, limiter_of
from gpu_workers.engine.models.served.transport import RetryPolicy
from tests.scripted_openai import (
    Fault,
    Reply,
    ScriptedOpenAIServer,
    missing_until,
    rate_limited,
    refusing,
    thinking_first,
    with_window,
    without_log_probabilities,
    without_samples,
    without_schemas,
)

HELLO = [Message("user", ("hello",))]
SCHEMA = {
    "title": "reply",
    "type": "object",
    "properties": {
        "answer": {"type": "string", "maxLength": 40},
        "kind": {"type": "string", "enum": ["a", "b"]},
        "frames": {"type": "array", "items": {"type": "integer"}, "maxItems": 3},
    },
}


def _model(
    server: ScriptedOpenAIServer, capabilities: ChatCapabilities | None = None, **options: Any
) -> OpenAIChatModel:
    return OpenAIChatModel(
        base_url=server.url,
        model="scripted",
        capabilities=capabilities or ChatCapabilities(32_768),
        retry=options.pop("retry", RetryPolicy(attempts=1)),
        **options,
    )


def _say(model: OpenAIChatModel, meter: Meter | None = None, **options: Any) -> str:
    return model.sample(HELLO, stage="answer", meter=meter or Meter(), **options)[0].text


def test_the_form_of_an_answer_is_said_in_words_where_schemas_are_refused() -> None:
    with ScriptedOpenAIServer(without_schemas(lambda request: {"answer": "yes"})) as server:
        model = _model(server)
        first, second = _say(model, schema=SCHEMA), _say(model, schema=SCHEMA)
        refused, in_place, later = server.requests
    assert refused.schema == SCHEMA
    form = '{"answer": <text of at most 40 characters>, "kind": "a" | "b", "frames": [<whole number>, ... (at most 3)]}'
    assert in_words(SCHEMA) == form
    assert in_words(SCHEMA) in in_place.user
    assert in_words(SCHEMA) in later.user
    assert "response_format" not in later.body
    assert '{"answer": "yes"}' in first
    assert first == second


def test_a_server_known_to_keep_to_no_schema_is_sent_none() -> None:
    with ScriptedOpenAIServer("{}") as server:
        _say(_model(server, ChatCapabilities(32_768, schemas=False)), schema=SCHEMA)
        (request,) = server.requests
    assert request.schema is None
    assert "Answer with one JSON object only" in request.user


def test_samples_are_asked_for_one_by_one_where_a_request_gives_one() -> None:
    with ScriptedOpenAIServer(without_samples(lambda request: f"text {request.body['seed']}")) as server:
        model = _model(server)
        samples = model.sample(HELLO, stage="answer", meter=Meter(), n=3, seed=7, temperature=0.6)
        assert {sample.text for sample in samples} == {"text 7", "text 8", "text 9"}
        assert [request.n for request in server.requests[:2]] == [3, 1]
        model.sample(HELLO, stage="answer", meter=Meter(), n=3, seed=7, temperature=0.6)
    assert [request.n for request in server.requests[2:]] == [1] * (len(server.requests) - 2)
    assert len(server.requests) == 7


def test_a_server_of_single_samples_that_fails_is_no_refusal() -> None:
    with ScriptedOpenAIServer(Fault(503)) as server:
        model = _model(server, ChatCapabilities(32_768, samples=False))
        with pytest.raises(ModelError) as caught:
            model.sample(HELLO, stage="answer", meter=Meter(), n=3)
    assert caught.value.code == "model_unavailable"


def test_log_probabilities_are_given_up_where_they_are_refused() -> None:
    with ScriptedOpenAIServer(without_log_probabilities(lambda request: "yes")) as server:
        model = _model(server)
        (sample,) = model.sample(HELLO, stage="judge", meter=Meter(), alternatives=20)
        _say(model, alternatives=20)
        bodies = [request.body for request in server.requests]
    assert (sample.text, sample.first) == ("yes", {})
    assert ["top_logprobs" in body for body in bodies] == [True, False, False]


def test_a_reasoning_model_that_refuses_parameters_is_asked_without_them() -> None:
    script = refusing(
        lambda request: "hi",
        max_tokens="Unsupported parameter: 'max_tokens' is not supported with this model. "
        "Use 'max_completion_tokens' instead.",
        temperature="Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value "
        "is supported.",
        cache_salt="Unrecognized request argument supplied: cache_salt",
    )
    with ScriptedOpenAIServer(script) as server:
        model, meter = _model(server), Meter("salt")
        assert _say(model, meter, max_tokens=77) == "hi"
        asked = len(server.requests)
        assert _say(model, meter, max_tokens=77) == "hi"
        last = server.requests[-1].body
    assert (asked, len(server.requests)) == (4, 5)
    assert last["max_completion_tokens"] == 77
    assert not {"max_tokens", "temperature", "cache_salt"} & last.keys()


@pytest.mark.parametrize("takes_salt", [True, False])
def test_a_call_says_whether_its_server_keeps_the_prompts_of_tenants_apart(takes_salt: bool) -> None:
    refused = {} if takes_salt else {"cache_salt": "Unrecognized request argument supplied: cache_salt"}
    with ScriptedOpenAIServer(refusing(lambda request: "hi", **refused)) as server:
        model, meter = _model(server), Meter("salt")
        for _ in range(2):
            assert _say(model, meter) == "hi"
    answered = [call.cache_shared for call in meter.calls if call.ok]
    assert answered == [not takes_salt] * 2


def test_a_server_whose_slots_share_their_prompts_says_so_with_each_call() -> None:
    with ScriptedOpenAIServer(lambda request: "hi") as server:
        model, meter = _model(server, ChatCapabilities(32_768, shares_cache=True)), Meter("salt")
        assert _say(model, meter) == "hi"
    assert [call.cache_shared for call in meter.calls] == [True]


def test_a_value_out_of_range_teaches_nothing() -> None:
    with ScriptedOpenAIServer(Fault(400, "invalid", "'temperature' must be at most 2", param="temperature")) as server:
        model = _model(server)
        for _ in range(2):
            with pytest.raises(ModelError) as caught:
                _say(model)
        assert ["temperature" in request.body for request in server.requests] == [True, True]
    assert caught.value.code == "model_bad_request"


def test_a_prompt_beyond_a_small_window_is_no_refusal_of_max_tokens() -> None:
    with ScriptedOpenAIServer(with_window(lambda request: "hi", 4096)) as server:
        with pytest.raises(ModelError) as caught:
            _say(_model(server), max_tokens=5000)
        assert len(server.requests) == 1
    assert caught.value.code == "context_exceeded"


@pytest.mark.parametrize("apart", [False, True])
def test_a_model_that_thinks_first_is_asked_not_to(apart: bool) -> None:
    with ScriptedOpenAIServer(thinking_first(lambda request: "B", apart=apart)) as server:
        known = _model(server, ChatCapabilities(32_768, thinks=True))
        assert _say(known, max_tokens=8) == "B"
        assert [r.body.get("chat_template_kwargs") for r in server.requests] == [{"enable_thinking": False}]
        found_out = _model(server)
        assert _say(found_out, max_tokens=8) == "B"
        assert _say(found_out, max_tokens=8) == "B"
    assert [r.body.get("chat_template_kwargs") for r in server.requests[1:]] == [
        None,
        {"enable_thinking": False},
        {"enable_thinking": False},
    ]


@pytest.mark.parametrize("apart", [False, True])
def test_a_model_that_cannot_but_think_gets_room_and_its_thoughts_are_left_out(apart: bool) -> None:
    with ScriptedOpenAIServer(thinking_first(lambda request: "B", obeys=False, apart=apart)) as server:
        model = _model(server, ChatCapabilities(32_768, thinks=True))
        assert _say(model, max_tokens=8) == "B"
        assert [r.body["max_tokens"] for r in server.requests] == [8, 8 + 2048]


def test_a_server_that_refuses_to_turn_thinking_off_is_not_asked_again() -> None:
    thinking = thinking_first(lambda request: "B", obeys=False)
    refusal = "chat_template_kwargs: Extra inputs are not permitted"
    with ScriptedOpenAIServer(refusing(thinking, chat_template_kwargs=refusal)) as server:
        model = _model(server, ChatCapabilities(32_768, thinks=True))
        assert [_say(model, max_tokens=8), _say(model, max_tokens=8)] == ["B", "B"]
        assert ["chat_template_kwargs" in r.body for r in server.requests] == [True, False, False, False]


def test_odds_are_those_of_the_first_token_after_the_thought() -> None:
    def token(text: str, log_probability: float) -> dict[str, Any]:
        return {"token": text, "logprob": log_probability, "bytes": None,
                "top_logprobs": [{"token": text, "logprob": log_probability, "bytes": None}]}  # fmt: skip

    tokens = [token(text, -k / 10) for k, text in enumerate(["<think>", "so", "</think>", "\n\n", "Yes", "."])]
    reply = Reply("<think>so</think>\n\nYes.", logprobs={"content": tokens, "refusal": None})
    with ScriptedOpenAIServer(reply) as server:
        (sample,) = _model(server).sample(HELLO, stage="judge", meter=Meter(), alternatives=5)
    assert sample.text == "Yes."
    assert sample.first == {"Yes": -0.4}


@pytest.mark.parametrize("status", [401, 402, 403, 404, 405, 407])
def test_a_server_that_is_set_up_wrongly_is_an_alarm_and_may_be_tried_later(
    status: int, caplog: pytest.LogCaptureFixture
) -> None:
    with ScriptedOpenAIServer([Fault(status), Fault(status), "hi", Fault(status)]) as server:
        model = _model(server, retry=RetryPolicy(attempts=5))
        with caplog.at_level(logging.ERROR, "ava.models"):
            for _ in range(2):
                with pytest.raises(ModelError) as caught:
                    _say(model)
            assert len(caplog.records) == 1
            assert _say(model) == "hi"
            with pytest.raises(ModelError):
                _say(model)
        assert len(caplog.records) == 2
        assert len(server.requests) == 4
    assert (caught.value.code, caught.value.retryable) == ("model_misconfigured", True)


def test_a_model_that_appears_later_answers_later() -> None:
    ready = threading.Event()
    with ScriptedOpenAIServer(missing_until(ready, lambda request: "hi")) as server:
        model = _model(server)
        with pytest.raises(ModelError):
            _say(model)
        ready.set()
        assert _say(model) == "hi"


def test_a_video_goes_with_the_times_of_its_frames() -> None:
    video = Video((b"1", b"2", b"3", b"4"), (60_000, 60_500, 61_000, 61_500))
    with ScriptedOpenAIServer("{}") as server:
        model = _model(server, ChatCapabilities(32_768, images=True, video=True))
        model.sample([Message("user", (video,))], stage="description", meter=Meter())
        (request,) = server.requests
    times = {"fps": 2.0, "num_frames": -1, "frames_indices": [120, 121, 122, 123], "total_num_frames": 124}
    assert request.body["media_io_kwargs"] == {"video": times}


def test_the_time_of_a_call_begins_with_its_slot() -> None:
    now = [0.0]
    release = threading.Event()

    def script(request: Any) -> object:
        release.wait(10)
        now[0] += 2.0
        return "x"

    with ScriptedOpenAIServer(script) as server:
        model, meter = _model(server, concurrency=1, clock=lambda: now[0], timeout_s=60), Meter()
        threads = [threading.Thread(target=_say, args=(model, meter)) for _ in range(3)]
        for thread in threads:
            thread.start()
        release.set()
        for thread in threads:
            thread.join()
    assert [call.wall_ms for call in meter.calls] == [2000, 2000, 2000]


# --- how many requests are in flight ------------------------------------------------------------------------------


def test_an_urgent_request_gets_the_next_slot_before_those_that_wait_longer() -> None:
    limiter = AdaptiveLimiter(1)
    assert limiter.acquire(0)
    order: list[str] = []

    def wait(name: str, urgent: bool) -> None:
        assert limiter.acquire(60, urgent=urgent)
        order.append(name)
        limiter.release(began=0.0, overloaded=False)

    waiting = [threading.Thread(target=wait, args=("description", False)) for _ in range(8)]
    waiting.append(threading.Thread(target=wait, args=("event", True)))
    for thread in waiting:
        thread.start()
    while len(limiter._free._waiters) < len(waiting):  # type: ignore[attr-defined]
        time.sleep(0.001)
    limiter.release(began=0.0, overloaded=False)
    for thread in waiting:
        thread.join(60)

    assert order == ["event", *8 * ["description"]]


def test_an_urgent_request_that_gives_up_holds_nobody_back() -> None:
    limiter = AdaptiveLimiter(1)
    assert limiter.acquire(0)

    assert not limiter.acquire(0, urgent=True)

    limiter.release(began=0.0, overloaded=False)
    assert limiter.acquire(0)


def _served(limiter: AdaptiveLimiter, requests: int, *, overloaded: bool = False, began: float = 0.0) -> None:
    """Let this number of requests be in flight at once, and then end."""
    for _ in range(requests):
        assert limiter.acquire(0)
    for _ in range(requests):
        limiter.release(began=began, overloaded=overloaded)


def test_more_are_admitted_until_an_overload_and_then_one_a_round() -> None:
    now = [1.0]
    limiter = AdaptiveLimiter(64, clock=lambda: now[0])
    assert limiter.admitted == FIRST
    for _ in range(100):
        _served(limiter, limiter.admitted)
    assert limiter.admitted == 64
    _served(limiter, 64, overloaded=True, began=0.5)
    assert limiter.admitted == 32
    now[0] = 2.0
    for _ in range(40):
        assert limiter.acquire(0)
        _served(limiter, 31)
        limiter.release(began=1.5, overloaded=False)
    assert 32 < limiter.admitted <= 34


def test_an_idle_server_has_not_shown_that_it_can_take_more() -> None:
    limiter = AdaptiveLimiter(64)
    for _ in range(100):
        _served(limiter, 2)
    assert limiter.admitted == FIRST


def test_at_least_one_request_is_always_admitted() -> None:
    now = [0.0]
    limiter = AdaptiveLimiter(64, clock=lambda: now[0])
    for _ in range(20):
        now[0] += 1
        _served(limiter, 1, overloaded=True, began=now[0])
    assert limiter.admitted == 1


def test_clients_of_one_server_share_what_it_admits() -> None:
    url = "http://127.0.0.1:9/v1"
    one, other = limiter_of(url, 8), limiter_of(url, 12)
    assert one is other
    assert one.admitted == 12
    assert limiter_of("http://127.0.0.1:10/v1", 8) is not one


def test_an_overloaded_server_gets_fewer_requests() -> None:
    with ScriptedOpenAIServer([rate_limited(), "hi"]) as server:
        model = _model(server, concurrency=32, retry=RetryPolicy(attempts=2), sleep=lambda s: None)
        assert _say(model) == "hi"
        assert limiter_of(server.url, 32).admitted == FIRST // 2


def test_a_dialect_is_learnt_from_words_as_well_as_from_a_named_field() -> None:
    for message in (
        '[{"type": "extra_forbidden", "loc": ["body", "cache_salt"], "msg": "Extra inputs are not permitted"}]',
        json.dumps({"detail": "Unknown field cache_salt"}),
    ):
        first = Fault(422, "invalid", message)
        with ScriptedOpenAIServer([first, "hi"]) as server:
            assert _say(_model(server), Meter("salt")) == "hi"
            assert ["cache_salt" in request.body for request in server.requests] == [True, False]
