"""Token similarity, reranking, entailment and a Qwen3 that has learnt nothing, served by real vLLM servers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from gpu_workers.engine.models import bindings, weights
from gpu_workers.engine.models.capabilities import report_of
from gpu_workers.engine.models.local.similarity import MINILM_BASELINE, MINILM_LAYER, BertScoreSimilarity
from gpu_workers.engine.models.model_table import find_model
from gpu_workers.engine.models.roles import AnswerModels, Message, Meter, ModelError
from gpu_workers.engine.models.served.embeddings import ServedTokenSimilarity
from gpu_workers.engine.models.served.ranking import ServedEntailer, ServedReranker
from gpu_workers.engine.models.settings import ModelSettings
from infra.vllm import environment, servers
from infra.vllm.servers import CONTEXT_TOKENS, Served
from tests.infra.vllm.conftest import Notes, running

if not os.environ.get("AVA_TEST_VLLM"):
    pytest.skip("make test-vllm sets up the vLLM servers of these tests", allow_module_level=True)

QUERY = "who waits near the pole?"
TEXTS = (
    "a man walks past a shop",
    "A person in black walks left past a shop.",
    "two dogs run",
    "the lecture begins with a slide on thermodynamics",
)


@pytest.fixture(scope="module")
def served(notes: Notes) -> Iterator[dict[str, Served]]:
    """Run the servers that only questions ask, with a Qwen3 as reasoner."""
    with running(
        notes, llm="chat", token_embedder="token-embedder", reranker="reranker", entailer="entailer"
    ) as started:
        yield started


@pytest.fixture(scope="module")
def answering(served: dict[str, Served]) -> AnswerModels:
    # No server of this module embeds.
    embedded = {"TEXT_EMBEDDER_MODEL": "all-minilm-l6-v2", "FRAME_EMBEDDER_MODEL": "conse", "MODEL_DEVICE": "cpu"}
    return bindings.load_answer_models(ModelSettings.from_env({**servers.environment_of(served), **embedded}))


def reference(server: str) -> tuple[Any, Any]:
    folder = environment.model_of(server, Path(os.environ["AVA_TEST_VLLM"]))
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    return tokenizer, AutoModelForSequenceClassification.from_pretrained(folder).eval()


def test_served_similarity_is_bert_score(answering: AnswerModels, notes: Notes) -> None:
    served = answering.similarity
    assert isinstance(served, ServedTokenSimilarity)
    assert served.baseline == MINILM_BASELINE
    local = BertScoreSimilarity(
        weights.fetch("all-minilm-l6-v2"), num_layers=MINILM_LAYER, baseline=MINILM_BASELINE, name="local"
    )
    texts = [*TEXTS, "", "word " * 400]
    pairs = [(a, b) for a in range(5) for b in range(5)]

    def scores(similarity: ServedTokenSimilarity | BertScoreSimilarity) -> np.ndarray[Any, Any]:
        encoded = similarity.encode(texts, meter=Meter())
        found = similarity.score([encoded[a] for a, _ in pairs], [encoded[b] for _, b in pairs])
        return np.stack([found.precision, found.recall, found.f1])

    ours, theirs = scores(served), scores(local)
    notes.add(f"BERTScore served against in process: largest difference {np.abs(ours - theirs).max():.4f}")
    # Half precision on the server and on the wire.
    np.testing.assert_allclose(ours, theirs, atol=0.02)
    assert theirs[2].max() > 0.99 > 0.3 > theirs[2].min()


def test_served_relevance_is_the_models(answering: AnswerModels) -> None:
    assert isinstance(answering.reranker, ServedReranker)
    tokenizer, model = reference("reranker")
    with torch.no_grad():
        logits = [model(**tokenizer(QUERY, text, return_tensors="pt")).logits[0, 0] for text in TEXTS]
    meter = Meter()
    found = answering.reranker.rerank(QUERY, [*TEXTS, ""], meter=meter)
    np.testing.assert_allclose(found, [*(float(torch.sigmoid(logit)) for logit in logits), 0.0], atol=0.01)
    assert len(set(found)) == len(found)
    (call,) = meter.calls
    assert (call.items, call.ok) == (4, True)
    assert call.prompt_tokens == sum(len(tokenizer(QUERY, text)["input_ids"]) for text in TEXTS)
    # Longer than its window together: the passage is cut.
    assert 0 < answering.reranker.rerank(QUERY, ["walks " * 400], meter=Meter())[0] < 1


def test_served_entailment_is_the_models(answering: AnswerModels, served: dict[str, Served]) -> None:
    assert isinstance(answering.entailer, ServedEntailer)
    tokenizer, model = reference("entailer")
    row = find_model(served["entailer"].model)
    assert row is not None
    assert [model.config.id2label[n] for n in range(3)] == list(row.labels)
    pairs = [(TEXTS[0], TEXTS[1]), (TEXTS[1], TEXTS[0]), (TEXTS[2], TEXTS[3])]
    found = answering.entailer.entail(pairs, meter=Meter())
    for (premise, hypothesis), entailment in zip(pairs, found, strict=True):
        with torch.no_grad():
            logits = model(**tokenizer(premise, hypothesis, return_tensors="pt")).logits[0]
        shares = dict(zip(row.labels, torch.softmax(logits, 0).tolist(), strict=True))
        assert entailment.entails == pytest.approx(shares["entailment"], abs=0.01)
        assert entailment.neutral == pytest.approx(shares["neutral"], abs=0.01)
        assert entailment.contradicts == pytest.approx(shares["contradiction"], abs=0.01)
    assert found[0] != found[1], "premise and hypothesis are not exchanged"
    (long,) = answering.entailer.entail([("walks " * 400, "a man walks")], meter=Meter())
    assert long.entails + long.neutral + long.contradicts == pytest.approx(1, abs=1e-3)


def test_the_table_gives_each_classifier_its_separator(served: dict[str, Served]) -> None:
    tokenizer, _ = reference("entailer")
    joined = tokenizer(f"{TEXTS[0]}</s></s>{TEXTS[1]}")["input_ids"]
    assert joined == tokenizer(TEXTS[0], TEXTS[1])["input_ids"]


def test_a_qwen3_is_served(served: dict[str, Served]) -> None:
    env = servers.environment_of(served)
    settings = ModelSettings.from_env(env)
    assert report_of(settings.reasoner).capabilities.context_tokens == CONTEXT_TOKENS["llm"]
    meter = Meter()
    model = bindings.reasoner(settings)
    samples = model.sample(
        [Message("user", ("hello",))], stage="answer", meter=meter, n=2, temperature=1.0, max_tokens=4
    )
    assert len(samples) == 2
    assert meter.calls[0].completion_tokens <= 8


def test_a_wrong_key_or_name_is_a_fault_of_the_settings(served: dict[str, Served]) -> None:
    ranker, similarity = served["reranker"], served["token-embedder"]

    def code(call: Any) -> tuple[str, bool]:
        with pytest.raises(ModelError) as caught:
            call()
        return caught.value.code, caught.value.retryable

    for model, key in ((ranker.model, "wrong"), ("another", ranker.key)):
        reranker = ServedReranker(base_url=ranker.url, model=model, api_key=key)
        assert code(lambda: reranker.rerank("a", ["b"], meter=Meter())) == ("model_misconfigured", True)  # noqa: B023
        entailer = ServedEntailer(base_url=served["entailer"].url, model=model, api_key=key)
        if key == "wrong":
            # /classify is below /, where vLLM itself asks for no key.
            assert code(lambda: entailer.entail([("a", "b")], meter=Meter())) == ("model_misconfigured", True)  # noqa: B023
    # A reranker asked for token embeddings: another pooling task than its own.
    wrong = ServedTokenSimilarity(base_url=ranker.url, model=ranker.model, baseline=0.0, api_key=ranker.key)
    with pytest.raises(ModelError):
        wrong.encode(["a"], meter=Meter())
    right = ServedTokenSimilarity(base_url=similarity.url, model=similarity.model, baseline=0.0, api_key=similarity.key)
    assert right.encode(["a"], meter=Meter())
