"""OpenAIChatModel against a real HTTP server with scripted words and faults."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from gpu_workers.engine.models.roles import (
    ChatCapabilities,
    Image,
    Message,
    Meter,
    ModelError,
    ModelRefused,
    Sample,
    Video,
)
from gpu_workers.engine.models.served.chat import OpenAIChatModel
from gpu_workers.engine.models.served.transport import RetryPolicy
from tests.scripted_openai import Fault, Reply, Script, ScriptedOpenAIServer, rate_limited

HELLO = [Message("user", ("hello",))]


class _Model:
    """A model on a scripted server that records its pauses instead of sleeping."""

    def __init__(self, script: Script, **server: Any) -> None:
        self.server = ScriptedOpenAIServer(script, **server)
        self.pauses: list[float] = []
        self.meter = Meter()

    def __enter__(self) -> _Model:
        return self

    def __exit__(self, *exc: object) -> None:
        self.server.close()

    def chat(self, **options: object) -> OpenAIChatModel:
        defaults: dict[str, object] = {
            "retry": RetryPolicy(attempts=3),
            "sleep": self.pauses.append,
            "jitter": lambda: 1.0,
        }
        return OpenAIChatModel(base_url=self.server.url, model="scripted", **{**defaults, **options})  # type: ignore[arg-type]


def test_it_returns_text_and_meters_cached_tokens() -> None:
    with _Model(Reply("hi", prompt_tokens=100, cached_tokens=64, completion_tokens=7)) as m:
        samples = m.chat().sample(HELLO, stage="answer", meter=m.meter)
    assert [s.text for s in samples] == ["hi"]
    (call,) = m.meter.calls
    assert (call.stage, call.prompt_tokens, call.cached_tokens, call.completion_tokens, call.ok) == (
        "answer",
        100,
        64,
        7,
        True,
    )


def test_it_sends_pictures_labels_and_schema_as_given() -> None:
    schema = {"title": "reply", "type": "object", "properties": {}}
    with _Model("{}") as m:
        message = Message("user", ("look", Image(b"\xff\xd8one", "first"), Image(b"\xff\xd8two")))
        chat = m.chat(capabilities=ChatCapabilities(32_768, images=True))
        chat.sample([message], stage="check", meter=m.meter, schema=schema, seed=3)
        (request,) = m.server.requests
    assert request.images == (b"\xff\xd8one", b"\xff\xd8two")
    assert request.texts == ("look", "first")
    assert request.body["response_format"]["json_schema"] == {"name": "reply", "schema": schema, "strict": True}
    assert request.body["seed"] == 3


def test_frames_of_a_video_are_sent_as_one_video() -> None:
    video = Video((b"\xff\xd8one", b"\xff\xd8two"), (3000, 3500), "from 3 s:")
    with _Model("{}") as m:
        chat = m.chat(capabilities=ChatCapabilities(32_768, images=True, video=True))
        chat.sample([Message("user", (video, "look"))], stage="description", meter=m.meter)
        (request,) = m.server.requests
    assert request.videos == ((b"\xff\xd8one", b"\xff\xd8two"),)
    assert (request.images, request.texts) == ((), ("from 3 s:", "look"))


def test_a_call_carries_the_salt_of_its_meter_and_no_other() -> None:
    with _Model("hi") as m:
        m.chat().sample(HELLO, stage="answer", meter=Meter("salt of acme"))
        m.chat().sample(HELLO, stage="answer", meter=Meter())
        salted, plain = m.server.requests
    assert salted.body["cache_salt"] == "salt of acme"
    assert "cache_salt" not in plain.body


def test_it_asks_for_n_in_one_request_and_fills_up_what_the_server_leaves_out() -> None:
    with _Model(["a"]) as m:
        assert len(m.chat().sample(HELLO, stage="answer", meter=m.meter, n=4)) == 4
        assert [r.n for r in m.server.requests] == [4]
    with _Model(lambda r: f"text {r.index}", max_choices=1) as m:
        samples = m.chat().sample(HELLO, stage="answer", meter=m.meter, n=4)
        assert sorted(s.text for s in samples) == ["text 0", "text 1", "text 2", "text 3"]
        assert [r.n for r in m.server.requests] == [4, 1, 1, 1]


def test_it_obeys_retry_after() -> None:
    with _Model([rate_limited("7"), "done"]) as m:
        assert m.chat().sample(HELLO, stage="answer", meter=m.meter)[0].text == "done"
    assert m.pauses == [7.5]
    assert [call.ok for call in m.meter.calls] == [False, True]


@pytest.mark.parametrize("fault", [Fault(500), Fault(503), Fault(drop=True), Fault(half_body=True)])
def test_it_tries_again_after_a_fault_that_may_pass(fault: Fault) -> None:
    with _Model([fault, fault, "done"]) as m:
        assert m.chat().sample(HELLO, stage="answer", meter=m.meter)[0].text == "done"
    assert m.pauses == [0.5, 1.0]


@pytest.mark.parametrize(
    "body",
    [
        b"", b"null", b"[1, 2]", b'"ok"', b'{"status": "ok"}', b'{"choices": null}', b'{"choices": "none"}',
        b'{"choices": [null]}', b'{"choices": [{"index": 0, "message": null}]}', b'{"choices": [{"index": 0}]}',
    ],
)  # fmt: skip
def test_a_reply_that_is_no_completion_is_a_fault_that_may_pass(body: bytes) -> None:
    with _Model([Fault(body=body), "hi"]) as m:
        assert m.chat().sample(HELLO, stage="answer", meter=m.meter)[0].text == "hi"
        assert [call.ok for call in m.meter.calls] == [False, True]
        m.server.script = Fault(body=body)
        with pytest.raises(ModelError) as failed:
            m.chat().sample(HELLO, stage="answer", meter=m.meter)
    assert (failed.value.code, failed.value.retryable) == ("model_unavailable", True)


def test_a_page_of_a_proxy_is_a_fault_that_may_pass() -> None:
    with _Model([Fault(body=b"<html>Bad gateway</html>", content_type="text/html"), "hi"]) as m:
        assert m.chat().sample(HELLO, stage="answer", meter=m.meter)[0].text == "hi"


def test_what_a_reply_without_choices_consumed_is_metered() -> None:
    usage = b'"usage": {"prompt_tokens": 50, "completion_tokens": 4, "total_tokens": 54}'
    with _Model([Fault(body=b'{"choices": [], ' + usage + b"}"), "hi"]) as m:
        m.chat().sample(HELLO, stage="answer", meter=m.meter)
    first, _ = m.meter.calls
    assert (first.prompt_tokens, first.completion_tokens, first.ok) == (50, 4, False)


@pytest.mark.parametrize("usage", ["null", '"none"', "{}", '{"prompt_tokens": null, "completion_tokens": "7"}', "[]"])
def test_a_server_that_does_not_count_is_taken_at_its_words(usage: str) -> None:
    body = '{"choices": [{"index": 0, "message": {"role": "assistant", "content": "hi"}}], "usage": ' + usage + "}"
    with _Model(Fault(body=body.encode())) as m:
        assert m.chat().sample(HELLO, stage="answer", meter=m.meter)[0].text == "hi"
    assert [(call.prompt_tokens, call.completion_tokens) for call in m.meter.calls] == [(0, 0)]


def test_a_part_that_fails_loses_no_sample_that_was_drawn() -> None:
    with _Model(["first", Fault(400, "invalid", "no"), "third"], max_choices=1) as m:
        samples = m.chat().sample(HELLO, stage="answer", meter=m.meter, n=3)
    assert {sample.text for sample in samples} == {"first", "third"}
    assert sorted(call.ok for call in m.meter.calls) == [False, True, True]


@pytest.mark.parametrize("content", ["null", "7", '["hi"]', '{"text": "hi"}'])
def test_content_that_is_no_text_is_empty(content: str) -> None:
    body = '{"choices": [{"index": 0, "message": {"role": "assistant", "content": ' + content + "}}]}"
    with _Model(Fault(body=body.encode())) as m:
        assert m.chat().sample(HELLO, stage="answer", meter=m.meter) == [Sample("")]


def test_it_gives_up_after_its_attempts_with_a_retryable_error() -> None:
    with _Model(Fault(500)) as m:
        with pytest.raises(ModelError) as caught:
            m.chat().sample(HELLO, stage="answer", meter=m.meter)
        assert len(m.server.requests) == 3
    assert (caught.value.code, caught.value.retryable) == ("model_unavailable", True)


def test_it_does_not_wait_beyond_the_deadline() -> None:
    with _Model(rate_limited("3600")) as m:
        with pytest.raises(ModelError) as caught:
            m.chat().sample(HELLO, stage="answer", meter=m.meter, timeout_s=30)
        assert len(m.server.requests) == 1
    assert caught.value.retryable
    assert m.pauses == []


def test_a_hanging_server_is_a_timeout() -> None:
    with _Model(Fault(hang=threading.Event())) as m, pytest.raises(ModelError) as caught:
        m.chat().sample(HELLO, stage="answer", meter=m.meter, timeout_s=0.2)
    assert caught.value.code == "model_timeout"


def test_an_outage_names_the_role_and_the_wait_that_the_server_asks_for() -> None:
    away = Fault(503, headers={"Retry-After": "7"})
    with ScriptedOpenAIServer([Reply("yes"), away]) as server:
        chat = OpenAIChatModel(
            base_url=server.url, model="scripted", dependency="reasoner", retry=RetryPolicy(attempts=1)
        )
        meter = Meter()
        chat.sample(HELLO, stage="answer", meter=meter)
        assert (meter.answered, meter.outage) == (frozenset({"reasoner"}), None)
        with pytest.raises(ModelError) as caught:
            chat.sample(HELLO, stage="answer", meter=meter)
    assert meter.outage is caught.value
    assert (caught.value.dependency, caught.value.retry_after_s) == ("reasoner", 7.0)


def test_a_bad_request_is_not_tried_again() -> None:
    with _Model(Fault(400, "invalid", "no such parameter")) as m:
        with pytest.raises(ModelError) as caught:
            m.chat().sample(HELLO, stage="answer", meter=m.meter)
        assert len(m.server.requests) == 1
    assert (caught.value.code, caught.value.retryable) == ("model_bad_request", False)


def test_a_prompt_beyond_the_window_has_its_own_code() -> None:
    with (
        _Model(Fault(400, "x", "This model's maximum context length is 10 tokens")) as m,
        pytest.raises(ModelError) as caught,
    ):
        m.chat().sample(HELLO, stage="answer", meter=m.meter)
    assert caught.value.code == "context_exceeded"


def test_a_refusal_is_typed_and_never_text() -> None:
    with _Model(Reply("", refusal="I can't help")) as m, pytest.raises(ModelRefused):
        m.chat().sample(HELLO, stage="answer", meter=m.meter)
    with _Model(Reply("x", finish_reason="content_filter")) as m, pytest.raises(ModelRefused):
        m.chat().sample(HELLO, stage="answer", meter=m.meter)


def test_a_cut_answer_is_marked() -> None:
    with _Model(Reply("half a", finish_reason="length")) as m:
        (sample,) = m.chat().sample(HELLO, stage="answer", meter=m.meter)
    assert sample.truncated
    assert sample.text == "half a"


def test_a_text_model_is_never_sent_a_picture() -> None:
    with _Model("x") as m:
        for part in (Image(b"x"), Video((b"x",), (0,))):
            with pytest.raises(ModelError):
                m.chat().sample([Message("user", (part,))], stage="check", meter=m.meter)
        assert m.server.requests == []


def test_no_more_requests_are_in_flight_than_allowed() -> None:
    gate = threading.Barrier(2)

    def script(request: object) -> str:
        gate.wait(timeout=10)
        return "x"

    with _Model(script, max_choices=1) as m:
        chat = m.chat(concurrency=2)
        threads = [
            threading.Thread(target=chat.sample, args=(HELLO,), kwargs={"stage": "answer", "meter": m.meter})
            for _ in range(6)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert m.server.most_in_flight == 2
        assert len(m.server.requests) == 6


def test_the_token_estimate_is_an_upper_one() -> None:
    with _Model("x") as m:
        assert m.chat().count_tokens("a" * 300) == 100
        assert m.chat().count_tokens("") == 0


def test_samples_that_a_server_leaves_out_of_its_count_are_metered() -> None:
    # llama.cpp reports only the first sample's tokens for n=2.
    texts = ("walks to the left side", "walks to the left side and then back again")
    with _Model(Reply(texts, completion_tokens=6)) as m:
        m.chat().sample(HELLO, stage="answer", meter=m.meter, n=2)
    assert [call.completion_tokens for call in m.meter.calls] == [round(6 * (22 + 42) / 22)]
    with _Model(Reply(texts, completion_tokens=16)) as m:
        m.chat().sample(HELLO, stage="answer", meter=m.meter, n=2)
    assert [call.completion_tokens for call in m.meter.calls] == [16]
    # JSON has more tokens than words: there the timings of the first sample, equal to the count, show it.
    compact = ('{"colour":"green"}', '{"colour":"red"}')
    with _Model(Reply(compact, completion_tokens=9, extra={"timings": {"predicted_n": 9}})) as m:
        m.chat().sample(HELLO, stage="answer", meter=m.meter, n=2)
    assert [call.completion_tokens for call in m.meter.calls] == [round(9 * (18 + 16) / 18)]
    with _Model(Reply(compact, completion_tokens=17, extra={"timings": {"predicted_n": 9}})) as m:
        m.chat().sample(HELLO, stage="answer", meter=m.meter, n=2)
    assert [call.completion_tokens for call in m.meter.calls] == [17]
