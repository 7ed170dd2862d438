"""Clients of served embedders, rerankers and entailers against a scripted server: real HTTP, scripted numbers."""

from __future__ import annotations

import base64
import json
import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from gpu_workers.engine.models.roles import Entailment, Meter, ModelError
from gpu_workers.engine.models.served.embeddings import (
    ServedFrameEmbedder,
    ServedTextEmbedder,
    ServedTokenSimilarity,
)
from gpu_workers.engine.models.served.ranking import ServedEntailer, ServedReranker
from gpu_workers.engine.models.served.transport import RetryPolicy

Reply = Mapping[str, Any] | tuple[int, Mapping[str, Any]] | bytes
Script = Callable[[str, Mapping[str, Any]], Reply]


class ScriptedPooling:
    """Answers POST by script(path, body). requests: (path, body, key) in order of arrival."""

    def __init__(self, script: Script) -> None:
        self.requests: list[tuple[str, Mapping[str, Any], str]] = []
        self.most_in_flight = 0
        in_flight, lock, requests = [0], threading.Lock(), self.requests
        scripted = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def log_message(self, format: str, *args: Any) -> None:
                return

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with lock:
                    requests.append((self.path, body, self.headers["Authorization"]))
                    in_flight[0] += 1
                    scripted.most_in_flight = max(scripted.most_in_flight, in_flight[0])
                reply = script(self.path, body)
                status, payload = reply if isinstance(reply, tuple) else (200, reply)
                data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
                with lock:
                    in_flight[0] -= 1
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()


@contextmanager
def serving(script: Script) -> Iterator[ScriptedPooling]:
    server = ScriptedPooling(script)
    try:
        yield server
    finally:
        server.close()


def packed(vector: Any, kind: str = "<f4") -> str:
    return base64.b64encode(np.asarray(vector, dtype=kind).tobytes()).decode()


def vector_of(text: str) -> list[float]:
    """Return a vector that depends on the text, not of unit length."""
    return [float(len(text)), float(sum(text.encode()) % 97), 3.0]


def embeddings(path: str, body: Mapping[str, Any]) -> Reply:
    texts = body["input"]
    rows = [{"index": k, "embedding": packed(vector_of(text))} for k, text in enumerate(texts)]
    # The order of a reply is not promised.
    return {"data": rows[::-1], "usage": {"prompt_tokens": 5 * len(texts), "total_tokens": 5 * len(texts)}}


def unit(vector: Any) -> NDArray[np.float64]:
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float64)


# --- text -------------------------------------------------------------------------------------------------------------


def test_texts_become_unit_rows_in_their_order_and_empty_ones_zero() -> None:
    meter = Meter()
    with serving(embeddings) as server:
        embedder = ServedTextEmbedder(base_url=server.url, model="space", dimension=3, api_key="sesame")
        rows = embedder.embed(["a dog", " ", "cat"], meter=meter)
        ((path, body, key),) = server.requests
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows, [unit(vector_of("a dog")), np.zeros(3), unit(vector_of("cat"))], rtol=1e-6)
    assert (path, key) == ("/v1/embeddings", "Bearer sesame")
    assert body == {
        "model": "space",
        "input": ["cat", "a dog"],
        "encoding_format": "base64",
        "truncate_prompt_tokens": -1,
    }
    (call,) = meter.calls
    assert (call.stage, call.model, call.prompt_tokens, call.items, call.ok) == ("embedding", "space", 10, 2, True)


def test_many_texts_go_in_several_requests_at_once() -> None:
    gate = threading.Barrier(4, timeout=10)

    def script(path: str, body: Mapping[str, Any]) -> Reply:
        gate.wait()
        return embeddings(path, body)

    texts = [f"text {k}" for k in range(64 * 3 + 1)]
    with serving(script) as server:
        rows = ServedTextEmbedder(base_url=server.url, model="space", dimension=3).embed(texts, meter=Meter())
        assert sorted(len(body["input"]) for _, body, _ in server.requests) == [1, 64, 64, 64]
        assert server.most_in_flight == 4
    np.testing.assert_allclose(rows, [unit(vector_of(text)) for text in texts], rtol=1e-6)


def test_no_more_requests_are_in_flight_than_the_server_has_slots() -> None:
    gate = threading.Barrier(2, timeout=10)

    def script(path: str, body: Mapping[str, Any]) -> Reply:
        gate.wait()
        return embeddings(path, body)

    with serving(script) as server:
        embedder = ServedTextEmbedder(base_url=server.url, model="space", dimension=3, concurrency=2)
        embedder.embed([f"text {k}" for k in range(64 * 4)], meter=Meter())
        assert server.most_in_flight == 2


def test_queries_have_the_models_prefix_and_stored_texts_have_none() -> None:
    with serving(embeddings) as server:
        embedder = ServedTextEmbedder(base_url=server.url, model="space", dimension=3, query_prefix="Query: ")
        embedder.embed_queries(["who?", ""], meter=Meter())
        embedder.embed(["who?"], meter=Meter())
        assert [body["input"] for _, body, _ in server.requests] == [["Query: who?"], ["who?"]]


def test_a_server_without_base64_is_understood() -> None:
    def script(path: str, body: Mapping[str, Any]) -> Reply:
        return {"data": [{"index": 0, "embedding": [3.0, 0.0, 4.0]}]}

    with serving(script) as server:
        rows = ServedTextEmbedder(base_url=server.url, model="space", dimension=3).embed(["a"], meter=Meter())
    np.testing.assert_allclose(rows, [[0.6, 0.0, 0.8]], rtol=1e-6)


def test_a_long_text_is_cut_to_the_window() -> None:
    with serving(embeddings) as server:
        embedder = ServedTextEmbedder(base_url=server.url, model="space", dimension=3, context_tokens=10)
        embedder.embed(["é" * 400], meter=Meter())
        ((_, body, _),) = server.requests
    assert body["input"] == ["é" * 15]


def test_vectors_of_another_width_are_a_fault_of_the_settings(caplog: pytest.LogCaptureFixture) -> None:
    with serving(embeddings) as server, pytest.raises(ModelError) as failed:
        ServedTextEmbedder(base_url=server.url, model="space", dimension=4).embed(["a"], meter=Meter())
    assert (failed.value.code, failed.value.retryable) == ("model_misconfigured", True)
    assert "3 numbers, not 4" in str(failed.value)
    assert "3 numbers, not 4" in caplog.text


# --- faults -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [401, 402, 403, 404, 405, 407, 501])
def test_a_wrong_key_name_or_path_is_a_fault_of_the_settings_that_is_logged(
    status: int, caplog: pytest.LogCaptureFixture
) -> None:
    meter = Meter()
    with serving(lambda path, body: (status, {"error": {"message": "no"}})) as server:
        embedder = ServedTextEmbedder(base_url=server.url, model="space", dimension=3)
        with caplog.at_level(logging.ERROR):
            for _ in range(2):
                with pytest.raises(ModelError) as failed:
                    embedder.embed(["a"], meter=meter)
        assert len(server.requests) == 2, "tried again by the job, not by the call"
    assert (failed.value.code, failed.value.retryable) == ("model_misconfigured", True)
    assert [call.ok for call in meter.calls] == [False, False]
    assert len([record for record in caplog.records if "misconfigured" in record.message]) == 1


def test_a_fault_of_the_settings_is_logged_again_after_the_server_has_answered(
    caplog: pytest.LogCaptureFixture,
) -> None:
    refusal = (404, {"error": {"message": "no"}})
    refused = (True, True, False, True)
    replies = iter(refused)

    def script(path: str, body: Mapping[str, Any]) -> Reply:
        return refusal if next(replies) else embeddings(path, body)

    with serving(script) as server, caplog.at_level(logging.ERROR):
        embedder = ServedTextEmbedder(base_url=server.url, model="space", dimension=3)
        for wrong in refused:
            with pytest.raises(ModelError) if wrong else nullcontext():
                embedder.embed(["a"], meter=Meter())
    assert len([record for record in caplog.records if "misconfigured" in record.message]) == 2


def test_a_server_that_is_busy_or_broken_is_asked_again() -> None:
    replies: list[Reply] = [
        (503, {"error": "starting"}),
        (429, {"error": "slow down"}),
        b"<html>",
        {"data": []},
        {"data": [{"index": 0, "embedding": [float("nan"), 0, 0]}]},
    ]
    pauses: list[float] = []

    def script(path: str, body: Mapping[str, Any]) -> Reply:
        return replies.pop(0) if replies else embeddings(path, body)

    with serving(script) as server:
        embedder = ServedTextEmbedder(
            base_url=server.url, model="space", dimension=3, retry=RetryPolicy(attempts=6), sleep=pauses.append
        )
        rows = embedder.embed(["a"], meter=Meter())
        assert len(server.requests) == 6
    np.testing.assert_allclose(rows, [unit(vector_of("a"))], rtol=1e-6)
    assert len(pauses) == 5


def test_a_server_that_stays_broken_is_a_fault_that_may_pass() -> None:
    with serving(lambda path, body: (500, {"error": "no"})) as server:
        embedder = ServedTextEmbedder(
            base_url=server.url, model="space", dimension=3, retry=RetryPolicy(attempts=3), sleep=lambda s: None
        )
        with pytest.raises(ModelError) as failed:
            embedder.embed(["a"], meter=Meter())
        assert len(server.requests) == 3
    assert (failed.value.code, failed.value.retryable) == ("model_unavailable", True)


def test_a_refused_text_is_final() -> None:
    with serving(lambda path, body: (400, {"error": {"message": "maximum context length is 8"}})) as server:
        embedder = ServedTextEmbedder(base_url=server.url, model="space", dimension=3)
        with pytest.raises(ModelError) as failed:
            embedder.embed(["a"], meter=Meter())
        assert len(server.requests) == 1
    assert (failed.value.code, failed.value.retryable) == ("context_exceeded", False)


def test_the_tenants_salt_is_sent_and_left_out_where_it_is_refused() -> None:
    def strict(path: str, body: Mapping[str, Any]) -> Reply:
        if "cache_salt" in body:
            return 400, {"error": {"message": "Unrecognized request argument supplied: cache_salt"}}
        return embeddings(path, body)

    meter = Meter(cache_salt="of-tenant")
    for script, salts in ((embeddings, ["of-tenant", "of-tenant"]), (strict, ["of-tenant", None, None])):
        with serving(script) as server:
            embedder = ServedTextEmbedder(base_url=server.url, model="space", dimension=3)
            embedder.embed(["a"], meter=meter)
            embedder.embed(["b"], meter=meter)
            assert [body.get("cache_salt") for _, body, _ in server.requests] == salts
    assert [call.cache_shared for call in meter.calls if call.ok] == [False, False, True, True]


# --- frames -----------------------------------------------------------------------------------------------------------


def test_frames_go_as_pictures_and_a_search_text_as_the_model_learnt_texts() -> None:
    def script(path: str, body: Mapping[str, Any]) -> Reply:
        if "input" in body:
            return embeddings(path, body)
        rows = []
        for k, (message,) in enumerate(body["messages"]):
            (part,) = message["content"]
            kind, data = part["image_url"]["url"].split(",", 1)
            assert kind == "data:image/jpeg;base64"
            width, height = Image.open(BytesIO(base64.b64decode(data))).size
            rows.append({"index": k, "embedding": packed([width, height, 0])})
        return {"data": rows}

    pictures = [np.zeros((90, 160 + k, 3), dtype=np.uint8) for k in range(17)]
    pictures[16] = np.zeros((720, 1280, 3), dtype=np.uint8)
    with serving(script) as server:
        embedder = ServedFrameEmbedder(base_url=server.url, model="two-towers", dimension=3, query_prefix="A photo of ")
        rows = embedder.embed_frames(pictures, meter=Meter())
        query = embedder.embed_query("A DOG", meter=Meter())
        nothing = embedder.embed_query("  ", meter=Meter())
        none = embedder.embed_frames([], meter=Meter())
        sizes = sorted(len(body["messages"]) for _, body, _ in server.requests if "messages" in body)
        (asked,) = [body for _, body, _ in server.requests if "input" in body]
    sent = [(160 + k, 90, 0) for k in range(16)] + [(512, 288, 0)]
    np.testing.assert_allclose(rows, [unit(size) for size in sent], rtol=1e-6)
    assert sizes == [1, 16]
    assert (asked["input"], asked["padding"], asked["truncate_prompt_tokens"]) == (
        ["a photo of a dog"],
        "max_length",
        -1,
    )
    np.testing.assert_allclose(query, unit(vector_of("a photo of a dog")), rtol=1e-6)
    assert not nothing.any()
    assert none.shape == (0, 3)


# --- token similarity -------------------------------------------------------------------------------------------------

TOKENS = {
    "word": [[1.0, 1.0]],
    "a b": [[1.0, 0.0], [0.0, 2.0]],
    "c": [[3.0, 4.0]],
    "d": [[-1.0, 0.0]],
}


def token_embeddings(path: str, body: Mapping[str, Any]) -> Reply:
    """Answer as a tokenizer with two marks before a text and one after it, whose embeddings would change any score."""
    if path == "/tokenize":
        return {"tokens": [1, 2, 7, 3] if body["add_special_tokens"] else [7]}
    assert path == "/pooling"
    assert body["task"] == "token_embed"
    marks = [[9.0, 9.0]]
    matrices = [[*marks, *marks, *TOKENS[text], *marks] for text in body["input"]]
    if body.get("encoding_format") == "base64":
        return {"data": [{"index": k, "data": packed(matrix, "<f2")} for k, matrix in enumerate(matrices)]}
    return {"data": [{"index": k, "data": matrix} for k, matrix in enumerate(matrices)]}


def test_similarity_is_greedy_matching_without_special_tokens() -> None:
    with serving(token_embeddings) as server:
        similarity = ServedTokenSimilarity(base_url=server.url, model="tokens", baseline=0.2, api_key="sesame")
        ab, c, d, empty = similarity.encode(["a b", "c", "d", ""], meter=Meter())
        assert {key for _, _, key in server.requests} == {"Bearer sesame"}
        similarity.encode(["c"], meter=Meter())
        assert [path for path, _, _ in server.requests].count("/tokenize") == 2, "its marks are asked for once"
    scores = similarity.score([ab, c, ab, d, ab], [c, ab, ab, ab, empty])
    # By hand: the unit rows of "a b" are (1, 0) and (0, 1), that of "c" is (0.6, 0.8).
    np.testing.assert_allclose(scores.precision, [(0.6 + 0.8) / 2, 0.8, 1.0, 0.0, 0.0], atol=1e-6)
    np.testing.assert_allclose(scores.recall, [0.8, (0.6 + 0.8) / 2, 1.0, 0.0, 0.0], atol=1e-6)
    f1 = 2 * 0.7 * 0.8 / 1.5
    np.testing.assert_allclose(scores.f1, [f1, f1, 1.0, 0.0, 0.0], atol=1e-6)
    assert (similarity.name, similarity.baseline) == ("bertscore-tokens", 0.2)


def test_a_server_of_sentence_vectors_is_no_token_similarity() -> None:
    def script(path: str, body: Mapping[str, Any]) -> Reply:
        return token_embeddings(path, body) if path == "/tokenize" else {"data": [{"index": 0, "data": [0.1, 0.2]}]}

    with serving(script) as server, pytest.raises(ModelError) as failed:
        ServedTokenSimilarity(base_url=server.url, model="tokens", baseline=0.2).encode(["c"], meter=Meter())
    assert failed.value.code == "model_misconfigured"


# --- ranking ----------------------------------------------------------------------------------------------------------


def test_passages_get_their_relevance_in_order() -> None:
    def script(path: str, body: Mapping[str, Any]) -> Reply:
        rows = [
            {"index": k, "document": {"text": text}, "relevance_score": len(text) / 100}
            for k, text in enumerate(body["documents"])
        ]
        return {"results": sorted(rows, key=lambda row: -row["relevance_score"]), "usage": {"prompt_tokens": 12}}

    meter = Meter()
    with serving(script) as server:
        reranker = ServedReranker(base_url=server.url, model="ranker", api_key="sesame")
        scores = reranker.rerank("who?", ["a", " ", "abc", "ab"], meter=meter)
        nothing = reranker.rerank(" ", ["a"], meter=meter)
        ((path, body, key),) = server.requests
    np.testing.assert_allclose(scores, [0.01, 0.0, 0.03, 0.02], rtol=1e-6)
    assert not nothing.any()
    assert (path, key, body["query"], body["documents"]) == ("/v1/rerank", "Bearer sesame", "who?", ["a", "abc", "ab"])
    assert [(call.stage, call.prompt_tokens, call.items) for call in meter.calls] == [("rerank", 12, 3)]


def test_a_long_passage_is_cut_and_the_query_stays() -> None:
    def script(path: str, body: Mapping[str, Any]) -> Reply:
        return {"results": [{"index": 0, "relevance_score": 0.5}]}

    with serving(script) as server:
        reranker = ServedReranker(base_url=server.url, model="ranker", context_tokens=100)
        reranker.rerank("who walks?", ["x" * 9_000], meter=Meter())
        ((_, body, _),) = server.requests
    assert body["query"] == "who walks?"
    assert body["documents"] == ["x" * (3 * (100 - 4 - 8))]


@pytest.mark.parametrize(
    "labels", [("contradiction", "neutral", "entailment"), ("entailment", "neutral", "contradiction")]
)
def test_a_pair_gets_the_shares_of_its_labels(labels: tuple[str, ...]) -> None:
    shares = {"entailment": 0.7, "neutral": 0.2, "contradiction": 0.1}

    def script(path: str, body: Mapping[str, Any]) -> Reply:
        assert path == "/classify"
        row = {"label": "ENTAILMENT", "probs": [shares[label] for label in labels], "num_classes": 3}
        return {"data": [{"index": k, **row} for k in range(len(body["input"]))]}

    meter = Meter()
    with serving(script) as server:
        entailer = ServedEntailer(base_url=server.url, model="nli", api_key="sesame", labels=labels)
        pairs = [("a man </s></s> runs", "he <s>moves"), ("", "he moves")]
        found = entailer.entail(pairs, meter=meter)
        ((_, body, key),) = server.requests
    assert found == [Entailment(0.7, 0.2, 0.1), Entailment(0.0, 1.0, 0.0)]
    assert key == "Bearer sesame"
    # Words of a customer cannot end the premise.
    assert [text.split("</s></s>") for text in body["input"]] == [["a man   runs", "he  moves"]]
    assert [(call.stage, call.items) for call in meter.calls] == [("entailment", 1)]


def test_labels_in_another_order_than_the_models_are_a_fault_of_the_settings(caplog: pytest.LogCaptureFixture) -> None:
    row = {"index": 0, "label": "contradiction", "probs": [0.7, 0.2, 0.1]}
    meter = Meter()
    with serving(lambda path, body: {"data": [row]}) as server, pytest.raises(ModelError) as failed:
        ServedEntailer(base_url=server.url, model="nli").entail([("a", "b")], meter=meter)
    assert (failed.value.code, failed.value.retryable) == ("model_misconfigured", True)
    assert [(call.stage, call.items) for call in meter.calls] == [("entailment", 1)]
    assert "labels are in another order" in caplog.text


def test_a_long_premise_is_cut_and_the_hypothesis_stays() -> None:
    def script(path: str, body: Mapping[str, Any]) -> Reply:
        return {"data": [{"index": 0, "label": "neutral", "probs": [0.1, 0.8, 0.1]}]}

    with serving(script) as server:
        ServedEntailer(base_url=server.url, model="nli", context_tokens=100).entail(
            [("x" * 9_000, "he moves")], meter=Meter()
        )
        ((_, body, _),) = server.requests
    assert body["input"] == ["x" * (3 * (100 - 3 - 8)) + "</s></s>he moves"]
