"""An event's summary and graph in one call, in two where the window is small, and what is kept of a cut answer."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from gpu_workers.engine.ekg import Chunk, Span, TranscriptLine
from gpu_workers.engine.models.pictures import jpeg_of
from gpu_workers.engine.models.roles import ChatCapabilities, Meter, ModelError
from gpu_workers.engine.models.served.chat import OpenAIChatModel
from gpu_workers.engine.models.served.events import VlmEventWriter, slice_lines, with_writing
from gpu_workers.engine.models.served.structured import read_object, rows_of, salvaged
from gpu_workers.engine.models.served.transport import RetryPolicy
from tests.engine.models.test_descriptions import unbounded
from tests.scripted_openai import ScriptedOpenAIServer, ScriptedRequest, looping, with_window

FRAMES = [(1000 * k, jpeg_of(np.full((270, 480, 3), 20 * k, dtype=np.uint8))) for k in range(8)]
WOMAN = {
    "name": "woman in red coat", "type": "person", "appearance": "red coat, grey hair", "role": "waits",
    "aliases": ["woman"], "confidence": 0.9, "frames": [0],
}  # fmt: skip
STOP = {**WOMAN, "name": "bus stop", "type": "place", "appearance": "glass shelter", "aliases": []}
WAITS_AT = {"subject": "woman in red coat", "predicate": "waits at", "object": "bus stop", "description": "",
            "confidence": 0.8}  # fmt: skip
EVENT = {"summary": "A woman waits.", "entities": [WOMAN, STOP], "relations": [WAITS_AT]}


def _writer(server: ScriptedOpenAIServer, context_tokens: int = 32_768) -> VlmEventWriter:
    return VlmEventWriter(
        OpenAIChatModel(
            base_url=server.url,
            model="scripted",
            capabilities=ChatCapabilities(context_tokens, images=True),
            retry=RetryPolicy(attempts=1),
        )
    )


def _chunk(
    n: int, text: str | None, *, writing: tuple[str, ...] = (), said: str = "", inherited: bool = False
) -> Chunk:
    span = Span(3000 * n, 3000 * n + 3000)
    lines = (TranscriptLine(span, said),) if said else ()
    gap = None if text else "no_frames"
    return Chunk(n, span, text, gap=gap, on_screen_text=writing, transcript=lines, inherited=inherited)


CHUNKS = [_chunk(n, f"text {n}.", writing=("LINE 7", f"no. {n}")) for n in range(8)]


def test_summary_and_graph_are_one_call() -> None:
    with ScriptedOpenAIServer(EVENT) as server:
        meter = Meter()
        text = _writer(server).write(CHUNKS, FRAMES, profile="general", meter=meter)
        (request,) = server.requests
    assert [call.stage for call in meter.calls] == ["event"]
    assert text.summary.startswith("A woman waits.")
    assert [(m.name, m.description, m.role) for m in text.extraction.mentions] == [
        ("woman in red coat", "red coat, grey hair", "waits"),
        ("bus stop", "glass shelter", "waits"),
    ]
    assert [(r.subject, r.predicate, r.object) for r in text.extraction.relations] == [
        ("woman in red coat", "waits at", "bus stop")
    ]
    assert len(request.images) == 4
    assert all(f"text {n}." in request.user for n in range(8))
    assert unbounded(request.schema) == []


def test_a_short_event_shows_two_frames() -> None:
    with ScriptedOpenAIServer(EVENT) as server:
        _writer(server).write(CHUNKS[:4], FRAMES, profile="general", meter=Meter())
        assert len(server.requests[0].images) == 2


def test_an_hour_costs_at_most_three_fifths_of_the_published_codes_prompts() -> None:
    """1,200 chunks at 1,300 tokens (test_descriptions) and 300 events, of 3.35 million at 300 tokens a picture."""
    long = [_chunk(n, "A man in a grey coat walks on with a dog. " * 8) for n in range(4)]
    with ScriptedOpenAIServer(EVENT) as server:
        _writer(server).write(long, FRAMES, profile="general", meter=Meter())
        (request,) = server.requests
    event = len(request.text) / 4 + 300 * len(request.images)
    assert 1_200 * 1_250 + 300 * event <= 0.6 * 3_350_000


def test_an_event_that_does_not_fit_the_window_at_once_takes_two_calls() -> None:
    def script(request: ScriptedRequest) -> Any:
        return {field: EVENT[field] for field in (request.schema or {})["properties"]}

    chunks = [_chunk(n, f"text {n}. " + "A man walks on. " * 40) for n in range(8)]
    with ScriptedOpenAIServer(with_window(script, 4_096)) as server:
        text = _writer(server, 4_096).write(chunks, FRAMES, profile="general", meter=Meter())
        assert [request.schema_name for request in server.requests] == ["event_summary", "event_graph"]
    assert text.summary == "A woman waits."
    assert len(text.extraction.mentions) == 2


def test_an_event_of_one_description_keeps_it_with_its_writing_and_asks_for_the_graph_alone() -> None:
    same = [_chunk(0, "A door."), _chunk(1, "A door.", writing=("EXIT",), inherited=True)]
    with ScriptedOpenAIServer({"entities": [], "relations": []}) as server:
        text = _writer(server).write(same, FRAMES, profile="general", meter=Meter())
        assert [request.schema_name for request in server.requests] == ["event_graph"]
    assert text.summary == 'A door. On screen: "EXIT".'


def test_writing_stands_once_in_the_prompt_and_once_in_the_summary() -> None:
    assert slice_lines(CHUNKS).count("LINE 7") == 1
    assert with_writing("The bus of line 7 comes.", CHUNKS[:2]) == 'The bus of line 7 comes. On screen: "no. 0; no. 1".'


def test_slices_that_show_nothing_new_are_one_line() -> None:
    chunks = [
        _chunk(0, "A door."),
        _chunk(1, "A door.", inherited=True),
        _chunk(2, "A door.", inherited=True),
        _chunk(3, "A door.", inherited=True, said="hello"),
        _chunk(4, "A man enters."),
    ]
    assert slice_lines(chunks).splitlines() == [
        "[00:00-00:03] A door.",
        "[00:03-00:09] (nothing changes)",
        '[00:09-00:12] (nothing changes) Spoken: "hello"',
        "[00:12-00:15] A man enters.",
    ]


def test_a_graph_that_never_ends_keeps_its_whole_items_in_one_call() -> None:
    beginning = json.dumps({"summary": "A woman waits.", "entities": [STOP]})[:-2] + ", "
    with ScriptedOpenAIServer(looping(beginning, json.dumps(WOMAN) + ", ")) as server:
        text = _writer(server).write(CHUNKS, FRAMES, profile="general", meter=Meter())
        assert len(server.requests) == 1
    assert text.summary.startswith("A woman waits.")
    assert [mention.name for mention in text.extraction.mentions] == ["bus stop", "woman in red coat"]
    assert text.extraction.cut


def test_a_summary_that_is_all_there_is_leaves_an_empty_graph_that_was_cut() -> None:
    with ScriptedOpenAIServer(looping('{"summary": "A woman waits.", "entities": [{"name": "', "a")) as server:
        text = _writer(server).write(CHUNKS, FRAMES, profile="general", meter=Meter())
        assert len(server.requests) == 1
    assert text.extraction.mentions == ()
    assert text.extraction.cut


def test_an_answer_without_a_summary_is_an_error() -> None:
    with ScriptedOpenAIServer('{"entities": []}') as server, pytest.raises(ModelError) as caught:
        _writer(server).write(CHUNKS, FRAMES, profile="general", meter=Meter())
    assert (caught.value.code, caught.value.retryable) == ("invalid_output", False)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ('{"a": "whole", "b": "cu', {"a": "whole"}),
        ('{"a": "whole", "b": ["x", "y", "z', {"a": "whole", "b": ["x", "y"]}),
        ('{"a": [{"n": 1}, {"n": 2', {"a": [{"n": 1}]}),
        ('{"a": 1, "b": 12', {"a": 1}),
        ('{"a": true, "b": {"c": 1', {"a": True}),
        ('{"a": "quote \\" and } brace", "b": [', {"a": 'quote " and } brace'}),
        ('Sure: {"a": "x", ', {"a": "x"}),
        ("{", {}),
        ("no JSON", {}),
        ("", {}),
    ],
)
def test_what_is_whole_of_a_cut_object_is_salvaged(text: str, kept: dict[str, Any]) -> None:
    assert read_object(text) is None
    assert salvaged(text) == kept


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ('Here: {"items": [{"n": 1}, 2]}', [{"n": 1}, 2]),
        ('{"items": [{"n": 1}, {"n": ', [{"n": 1}]),
        ('{"items": "all"}', []),
        ('{"parts": [1]}', []),
        ("", []),
        ('{"items": ' + "[" * 9_000, []),
    ],
)
def test_the_rows_of_a_reply_are_its_whole_items(text: str, rows: list[Any]) -> None:
    assert rows_of(text, "items") == rows


def test_an_object_inside_one_that_cannot_be_read_is_not_taken_for_it() -> None:
    assert read_object('{"entities": [{"name": "a"}, {"name": ') is None
    assert read_object('{"a": 1} and {"b": 2}') == {"a": 1}
