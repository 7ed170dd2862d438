"""Bindings: what configuration and the servers decide together; and the prompts."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpu_workers.engine import prompts
from gpu_workers.engine.models import bindings, weights
from gpu_workers.engine.models.bindings import device_of, load_answer_models, load_index_models, text_embedder
from gpu_workers.engine.models.calibration import DEBERTA_SIMILARITY, EMBEDDED_SIMILARITY, SIMILARITIES
from gpu_workers.engine.models.capabilities import forget_reports
from gpu_workers.engine.models.local.similarity import DEBERTA_LAYER
from gpu_workers.engine.models.observer.checker import ObserverChecker
from gpu_workers.engine.models.observer.narrator import MeasuredNarrator
from gpu_workers.engine.models.observer.observer import Observer
from gpu_workers.engine.models.observer.tracked import TrackedDescriber
from gpu_workers.engine.models.roles import Meter, ModelError
from gpu_workers.engine.models.served.embeddings import ServedFrameEmbedder, ServedTextEmbedder, ServedTokenSimilarity
from gpu_workers.engine.models.served.ranking import ServedEntailer, ServedReranker
from gpu_workers.engine.models.served.transcription import ServedTranscriber
from gpu_workers.engine.models.served.vision import VlmChecker
from gpu_workers.engine.models.settings import MINILM, ModelSettings, RoleSettings
from gpu_workers.engine.models.weights import WEIGHTS
from tests.abilities import Abilities
from tests.engine.models.tiny_models import write_deberta, write_siglip
from tests.scripted_openai import ScriptedOpenAIServer


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    """Ask each server again: the system may give a later server the port of an earlier one."""
    forget_reports()
    yield
    forget_reports()


def test_without_variables_indexing_needs_nothing_but_weights() -> None:
    models = load_index_models(ModelSettings.from_env({}))
    assert isinstance(models.describer, Observer)
    assert isinstance(models.narrator, MeasuredNarrator)
    assert models.text_embedder.dimension == models.frame_embedder.dimension == 384
    assert load_index_models(ModelSettings.from_env({})) is models, "loaded once per process"


def test_urls_alone_give_eyes_and_a_reasoner_with_the_windows_of_their_servers() -> None:
    with (
        ScriptedOpenAIServer(model="some-vlm", abilities=Abilities(window=16_000, video=True)) as vlm,
        ScriptedOpenAIServer(model="some-llm", abilities=Abilities(window=131_072, images=False)) as llm,
    ):
        settings = ModelSettings.from_env({"DESCRIBER_URL": vlm.url, "REASONER_URL": llm.url})
        indexing, answering = load_index_models(settings), load_answer_models(settings)
        assert isinstance(indexing.describer, TrackedDescriber), "objects are followed next to any VLM"
        assert (indexing.describer.name, indexing.narrator.name) == ("some-vlm+tracks", "some-vlm")
        assert isinstance(answering.checker, VlmChecker)
        assert (answering.checker.name, answering.checker.max_frames) == ("some-vlm", 64)
        assert (answering.reasoner.name, answering.reasoner.context_tokens) == ("some-llm", 131_072)
        assert bindings.vision_model(settings).capabilities.video
        assert vlm.requests == llm.requests == []
        assert (answering.reranker, answering.entailer) == (None, None)


def test_a_checker_of_its_own_checks_and_the_describer_describes() -> None:
    with ScriptedOpenAIServer(model="small") as small, ScriptedOpenAIServer(model="strong") as strong:
        env = {"DESCRIBER_URL": small.url, "CHECKER_URL": strong.url, "REASONER_URL": small.url}
        settings = ModelSettings.from_env({**env, "CHECKER_CONTEXT_TOKENS": "9000"})
        checker = load_answer_models(settings).checker
        assert checker is not None
        assert (checker.name, load_index_models(settings).narrator.name) == ("strong", "small")


def test_without_eyes_the_reasoner_reads_measurements() -> None:
    with ScriptedOpenAIServer() as llm:
        checker = load_answer_models(ModelSettings.from_env({"REASONER_URL": llm.url})).checker
        assert isinstance(checker, ObserverChecker)


def test_a_describer_that_takes_no_pictures_is_a_configuration_fault() -> None:
    with ScriptedOpenAIServer(abilities=Abilities(images=False)) as server:
        with pytest.raises(ModelError, match=r"DESCRIBER_URL: scripted at .* takes no pictures") as caught:
            load_index_models(ModelSettings.from_env({"DESCRIBER_URL": server.url}))
        assert (caught.value.code, caught.value.retryable) == ("model_misconfigured", True)


def test_a_server_that_comes_later_is_used_then() -> None:
    with ScriptedOpenAIServer(abilities=Abilities(models_status=503)) as server:
        settings = ModelSettings.from_env({"REASONER_URL": server.url})
        with pytest.raises(ModelError) as caught:
            load_answer_models(settings)
        assert (caught.value.code, caught.value.retryable) == ("model_unavailable", True)
        server.abilities = Abilities()
        assert load_answer_models(settings).reasoner.name == "scripted"


def test_answering_without_a_reasoner_says_what_is_missing() -> None:
    with pytest.raises(ModelError, match="REASONER_URL") as caught:
        load_answer_models(ModelSettings())
    assert caught.value.code == "not_configured"


POOLING = {
    "TEXT_EMBEDDER": "BAAI/bge-m3",
    "FRAME_EMBEDDER": "google/siglip2-base-patch16-384",
    "TOKEN_EMBEDDER": "sentence-transformers/all-MiniLM-L6-v2",
    "RERANKER": "BAAI/bge-reranker-v2-m3",
    "ENTAILER": "joeddav/xlm-roberta-large-xnli",
}
"""Model of each pooling role in the presets of GPUs."""
SPEECH = "openai/whisper-large-v3-turbo"


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """Yield the environment of a query worker whose models are all served, each under the preset's name."""
    names = {**POOLING, "DESCRIBER": "Qwen/Qwen3-VL-8B-Instruct-FP8", "REASONER": "Qwen/Qwen3-32B-AWQ"}
    names["TRANSCRIBER"] = SPEECH
    servers = {role: ScriptedOpenAIServer(model=name) for role, name in names.items()}
    yield {"MODEL_PRESET": "two-gpus", **{f"{role}_URL": server.url for role, server in servers.items()}}
    for server in servers.values():
        server.close()


def test_a_preset_s_names_are_asked_for_and_every_pooling_role_is_served(served: dict[str, str]) -> None:
    models = load_answer_models(ModelSettings.from_env(served))
    assert isinstance(models.text_embedder, ServedTextEmbedder)
    assert isinstance(models.frame_embedder, ServedFrameEmbedder)
    assert isinstance(models.similarity, ServedTokenSimilarity)
    assert isinstance(models.reranker, ServedReranker)
    assert isinstance(models.entailer, ServedEntailer)
    assert (models.text_embedder.dimension, models.frame_embedder.dimension) == (1_024, 768)
    assert models.similarity.baseline == 0.133
    assert models.calibration.thresholds == SIMILARITIES[EMBEDDED_SIMILARITY], "the same weights, served"
    assert models.reasoner.capabilities.thinks
    assert not models.calibration.small


def test_deberta_compares_texts_in_a_worker_that_names_it_and_no_server(served: dict[str, str], tmp_path: Path) -> None:
    del served["TOKEN_EMBEDDER_URL"]
    assert f"bertscore-microsoft/deberta-xlarge-mnli-{DEBERTA_LAYER}" == DEBERTA_SIMILARITY
    folder = write_deberta(tmp_path, tokenizer=weights.fetch(MINILM), layers=DEBERTA_LAYER)

    models = load_answer_models(ModelSettings.from_env(served | {"SIMILARITY_MODEL": str(folder)}))

    assert models.similarity.name == f"bertscore-{folder}-{DEBERTA_LAYER}"
    (text,) = models.similarity.encode(["a red car"], meter=Meter())
    assert models.similarity.score([text], [text]).f1[0] == pytest.approx(1.0, abs=1e-3)


def test_an_index_worker_with_served_models_loads_none_for_speech_or_similarity(served: dict[str, str]) -> None:
    models = load_index_models(ModelSettings.from_env(served | {"AVA_TRACKS": "off"}))
    assert isinstance(models.similarity, ServedTokenSimilarity)
    assert isinstance(models.transcriber, ServedTranscriber)
    assert models.transcriber.name == SPEECH
    assert models.calibration.thresholds == SIMILARITIES[EMBEDDED_SIMILARITY], "chunks are merged by measured scores"


def test_a_query_worker_with_served_models_loads_no_torch(served: dict[str, str]) -> None:
    program = (
        "import sys\n"
        "from gpu_workers.engine.answering.answer import answer_question\n"
        "from gpu_workers.engine.models.bindings import load_answer_models\n"
        "from gpu_workers.engine.models.settings import ModelSettings\n"
        "load_answer_models(ModelSettings.from_env())\n"
        "print(*sorted({'torch', 'transformers', 'bert_score', 'cv2', 'sklearn', 'faster_whisper'} & {*sys.modules}))\n"
    )
    root = Path(__file__).parents[3]
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=served, cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


def test_another_served_name_than_the_preset_s_is_refused_with_both() -> None:
    with ScriptedOpenAIServer(model="bge-m3") as server:
        settings = ModelSettings.from_env({"MODEL_PRESET": "gpu-48gb", "TEXT_EMBEDDER_URL": server.url})
        with pytest.raises(ModelError, match="does not serve 'BAAI/bge-m3'; it lists bge-m3"):
            text_embedder(settings)


def test_a_preset_of_gpus_embeds_no_text_in_process() -> None:
    with pytest.raises(ModelError, match="TEXT_EMBEDDER_URL is not set: BAAI/bge-m3") as caught:
        text_embedder(ModelSettings.from_env({"MODEL_PRESET": "gpu-80gb"}))
    assert caught.value.code == "not_configured"


def test_an_entailer_needs_the_order_of_its_labels() -> None:
    with ScriptedOpenAIServer() as llm, ScriptedOpenAIServer(model="my-nli") as nli:
        settings = ModelSettings.from_env({"REASONER_URL": llm.url, "ENTAILER_URL": nli.url})
        with pytest.raises(ModelError, match="my-nli is not in the model table"):
            load_answer_models(settings)


def test_siglip_runs_in_process_where_it_is_named(tmp_path: Path) -> None:
    folder = write_siglip(tmp_path / "siglip", tokenizer=weights.fetch("all-minilm-l6-v2"))
    settings = ModelSettings(frame_embedder=RoleSettings(model=str(folder)))
    assert bindings.frame_embedder(settings).dimension == 16


def test_auto_is_the_cpu_without_a_gpu_and_a_gpu_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    bindings._device.cache_clear()
    assert device_of(ModelSettings()) == device_of(ModelSettings(device="cpu")) == "cpu"
    with pytest.raises(ModelError, match="MODEL_DEVICE is cuda, but torch sees no GPU") as caught:
        device_of(ModelSettings(device="cuda"))
    assert (caught.value.code, caught.value.retryable) == ("not_configured", False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    bindings._device.cache_clear()
    assert device_of(ModelSettings()) == "cuda"
    assert device_of(ModelSettings(device="cuda:1")) == "cuda:1"
    with pytest.raises(ModelError, match="MODEL_DEVICE is cuda:2, but torch sees 2 GPUs"):
        device_of(ModelSettings(device="cuda:2"))
    bindings._device.cache_clear()


def test_a_source_that_is_neither_model_nor_folder_is_refused() -> None:
    with pytest.raises(weights.UnknownWeights, match="no folder and no model of the table"):
        weights.folder_of("microsoft/deberta-nothing")


def test_every_packaged_weight_has_its_hashes() -> None:
    for weight in WEIGHTS.values():
        assert weight.files
        assert all(re.fullmatch("[0-9a-f]{64}", file.sha256) for file in weight.files)


@pytest.mark.parametrize("profile", prompts.PROFILES)
def test_every_prompt_exists_for_every_profile(profile: str) -> None:
    for name in ("describe", "describe_focus", "describe_view", "summarise", "summarise_view", "extract",
                 "extract_focus",
                 "extract_view", "check", "check_observed", "check_view"):  # fmt: skip
        assert prompts.load(name, profile).is_valid()


def test_scenarios_differ_in_their_words_and_unknown_names_fail() -> None:
    assert len({prompts.load("describe_focus", profile).template for profile in prompts.PROFILES}) == 5
    with pytest.raises(LookupError):
        prompts.load("../secrets", "general")
    with pytest.raises(ValueError, match="no profile"):
        prompts.load("describe", "../general")


def test_models_are_loaded_once_per_process() -> None:
    """Every question of a worker uses the same models, and so the same open connections and weights."""
    with ScriptedOpenAIServer(model="a", abilities=Abilities(listed={"aliases": ["b"]})) as server:
        settings = ModelSettings(reasoner=RoleSettings(server.url, "a"))
        other = ModelSettings(reasoner=RoleSettings(server.url, "b"))
        assert load_answer_models(settings) is load_answer_models(settings)
        assert load_answer_models(other).reasoner is not load_answer_models(settings).reasoner
        assert load_answer_models(other).text_embedder is load_answer_models(settings).text_embedder
