"""The implementations of the model roles: one loader per role, and the settings that choose.

Nothing is loaded on import. Each model is loaded once per process and per settings, when a role first needs it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from gpu_workers.engine.models import weights
from gpu_workers.engine.models.calibration import EMBEDDED_SIMILARITY, EMBEDDED_TEXT_EMBEDDER, calibration_of
from gpu_workers.engine.models.roles import (
    AnswerModels,
    ChatCapabilities,
    Checker,
    Describer,
    Extractor,
    FrameEmbedder,
    IndexModels,
    ModelError,
    Narrator,
    Similarity,
    Summariser,
    TextEmbedder,
    Transcriber,
)
from gpu_workers.engine.models.served.chat import OpenAIChatModel

if TYPE_CHECKING:
    from gpu_workers.engine.models.local.clip import ClipEmbedder
    from gpu_workers.engine.models.observer.detector import SsdDetector
    from gpu_workers.engine.models.observer.scene import SceneClassifier


MODEL_PROFILES = ("embedded", "openai")
"""Values of MODEL_PROFILE. "openai" is for machines with GPUs: a VLM and an LLM behind the OpenAI protocol."""


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Locations of the models. An embedded profile with a describer_url uses that VLM instead of the observer.

    reasoner_model: the name under which the server serves the reasoner; its calibration is looked up by this name.
    clip_source, bertscore_source, whisper_source: folder or hub id for the openai profile; the licences of the default
    ones are Apache-2.0, MIT and MIT. clip_revision: the commit whose code may run. device: device of in-process models
    in the openai profile. describer_images: maximum number of pictures that the describer's server takes in one
    request.
    """

    profile: str = "embedded"
    reasoner_url: str = ""
    reasoner_model: str = ""
    reasoner_api_key: str = ""
    describer_url: str = ""
    describer_model: str = ""
    describer_api_key: str = ""
    context_tokens: int = 8_192
    describer_context_tokens: int = 32_768
    describer_images: int = 64
    concurrency: int = 8
    timeout_s: float = 300.0
    clip_source: str = "jinaai/jina-clip-v1"
    clip_revision: str = ""
    bertscore_source: str = "microsoft/deberta-xlarge-mnli"
    whisper_source: str = "large-v3-turbo"
    device: str = "cuda"
    threads: int = 1

    def __post_init__(self) -> None:
        if self.profile not in MODEL_PROFILES:
            raise ValueError(f"MODEL_PROFILE is one of {', '.join(MODEL_PROFILES)}, got {self.profile!r}")

    @classmethod
    def from_env(cls, env: Mapping[str, str] | None = None) -> ModelSettings:
        """Read the settings from the environment. Raises ValueError, naming the variable, for an invalid value."""
        env = os.environ if env is None else env
        return cls(
            profile=env.get("MODEL_PROFILE") or "embedded",
            reasoner_url=env.get("REASONER_URL", ""),
            reasoner_model=env.get("REASONER_MODEL", ""),
            reasoner_api_key=env.get("REASONER_API_KEY", ""),
            describer_url=env.get("DESCRIBER_URL", ""),
            describer_model=env.get("DESCRIBER_MODEL", ""),
            describer_api_key=env.get("DESCRIBER_API_KEY", ""),
            context_tokens=_positive(env, "REASONER_CONTEXT_TOKENS", 8_192),
            describer_context_tokens=_positive(env, "DESCRIBER_CONTEXT_TOKENS", 32_768),
            describer_images=_positive(env, "DESCRIBER_IMAGES", 64),
            concurrency=_positive(env, "MODEL_CONCURRENCY", 8),
            timeout_s=float(_positive(env, "MODEL_TIMEOUT_S", 300)),
            clip_source=env.get("CLIP_SOURCE") or "jinaai/jina-clip-v1",
            clip_revision=env.get("CLIP_REVISION", ""),
            bertscore_source=env.get("BERTSCORE_SOURCE") or "microsoft/deberta-xlarge-mnli",
            whisper_source=env.get("WHISPER_SOURCE") or "large-v3-turbo",
            device=env.get("MODEL_DEVICE") or "cuda",
            threads=_positive(env, "AVA_MODEL_THREADS", 1),
        )


def _positive(env: Mapping[str, str], name: str, default: int) -> int:
    text = env.get(name) or str(default)
    if not text.isdigit() or int(text) < 1:
        raise ValueError(f"{name} is a whole number above 0, got {text!r}")
    return int(text)


@cache
def reasoner(settings: ModelSettings) -> OpenAIChatModel:
    """Return the LLM. Raises ModelError (not_configured) without REASONER_URL."""
    if not settings.reasoner_url:
        raise ModelError("not_configured", "REASONER_URL is not set: no model answers questions", retryable=False)
    return OpenAIChatModel(
        base_url=settings.reasoner_url,
        model=settings.reasoner_model or "default",
        api_key=settings.reasoner_api_key,
        capabilities=ChatCapabilities(settings.context_tokens),
        concurrency=settings.concurrency,
        timeout_s=settings.timeout_s,
    )


@cache
def vision_model(settings: ModelSettings) -> OpenAIChatModel:
    """Return the VLM. Raises ModelError (not_configured) without DESCRIBER_URL."""
    if not settings.describer_url:
        raise ModelError("not_configured", "DESCRIBER_URL is not set: no model looks at frames", retryable=False)
    return OpenAIChatModel(
        base_url=settings.describer_url,
        model=settings.describer_model or "default",
        api_key=settings.describer_api_key,
        capabilities=ChatCapabilities(settings.describer_context_tokens, images=True),
        concurrency=settings.concurrency,
        timeout_s=settings.timeout_s,
    )


@cache
def load_index_models(settings: ModelSettings) -> IndexModels:
    """Return the roles of an index job. Raises WeightsError or ModelError if one of them is not available."""
    describer, summariser, extractor = _perception(settings)
    similarity, embedder = _similarity(settings), _text_embedder(settings)
    return IndexModels(
        describer=describer,
        summariser=summariser,
        extractor=extractor,
        text_embedder=embedder,
        frame_embedder=_frame_embedder(settings),
        similarity=similarity,
        narrator=_narrator(settings),
        calibration=calibration_of(similarity=similarity.name, text_embedder=embedder.name),
        transcriber=_transcriber(settings),
    )


@cache
def load_answer_models(settings: ModelSettings) -> AnswerModels:
    """Return the roles of a question. Raises WeightsError or ModelError if one of them is not available."""
    from gpu_workers.engine.models.observer.checker import ObserverChecker
    from gpu_workers.engine.models.served.vision import VlmChecker

    llm = reasoner(settings)
    checker: Checker
    if settings.describer_url:
        checker = VlmChecker(vision_model(settings), max_frames=settings.describer_images)
    else:
        checker = ObserverChecker(llm)
    similarity, embedder = _similarity(settings), _text_embedder(settings)
    return AnswerModels(
        reasoner=llm,
        text_embedder=embedder,
        frame_embedder=_frame_embedder(settings),
        similarity=similarity,
        calibration=calibration_of(reasoner=llm.name, similarity=similarity.name, text_embedder=embedder.name),
        checker=checker,
    )


def _perception(settings: ModelSettings) -> tuple[Describer, Summariser, Extractor]:
    if settings.describer_url or settings.profile == "openai":
        from gpu_workers.engine.models.served.events import FRAMES_PER_EVENT, LlmSummariser, VlmExtractor
        from gpu_workers.engine.models.served.vision import FRAMES_PER_CHUNK, VlmDescriber

        vlm = vision_model(settings)
        images = settings.describer_images
        describer = VlmDescriber(vlm, concurrency=settings.concurrency, frames=min(FRAMES_PER_CHUNK, images))
        return describer, LlmSummariser(vlm), VlmExtractor(vlm, max_frames=min(FRAMES_PER_EVENT, images))
    from gpu_workers.engine.models.observer.events import ObserverExtractor, ObserverSummariser
    from gpu_workers.engine.models.observer.observer import Observer
    from gpu_workers.engine.models.observer.text_reader import TextReader

    text = TextReader(threads=settings.threads)
    return Observer(_detector(), _scene(settings.threads), text), ObserverSummariser(), ObserverExtractor()


def _narrator(settings: ModelSettings) -> Narrator:
    """Return the VLM's narrator, so that indexing needs one server; without a VLM, the measured narrator."""
    from gpu_workers.engine.models.observer.narrator import MeasuredNarrator
    from gpu_workers.engine.models.served.narrator import LlmNarrator

    measured = MeasuredNarrator()
    if settings.describer_url or settings.profile == "openai":
        return LlmNarrator(vision_model(settings), measured)
    return measured


@cache
def _detector() -> SsdDetector:
    from gpu_workers.engine.models.observer.detector import SsdDetector

    return SsdDetector(weights.fetch("ssd-mobilenet-v2"))


@cache
def _scene(threads: int) -> SceneClassifier:
    from gpu_workers.engine.models.observer.scene import SceneClassifier

    return SceneClassifier(weights.fetch("efficientnet-lite3"), threads=threads)


@cache
def _clip(settings: ModelSettings) -> ClipEmbedder:
    from gpu_workers.engine.models.local.clip import ClipEmbedder

    # jina-clip's architecture comes as code with its weights, and runs only at a commit that the operator pins.
    pinned = settings.clip_revision or None
    return ClipEmbedder(
        settings.clip_source,
        name=settings.clip_source,
        device=settings.device,
        trust_code=pinned is not None,
        revision=pinned,
    )


@cache
def _text_embedder(settings: ModelSettings) -> TextEmbedder:
    if settings.profile == "openai":
        return _clip(settings)
    from gpu_workers.engine.models.local.encoders import MiniLMTextEmbedder

    return MiniLMTextEmbedder(weights.fetch("all-minilm-l6-v2"), name=EMBEDDED_TEXT_EMBEDDER)


@cache
def _frame_embedder(settings: ModelSettings) -> FrameEmbedder:
    if settings.profile == "openai":
        return _clip(settings)
    from gpu_workers.engine.models.local.conse import ConseFrameEmbedder

    cache_dir = weights.cache_dir() / "derived"
    return ConseFrameEmbedder(_text_embedder(settings), _scene(settings.threads), _detector(), cache_dir=cache_dir)


@cache
def _similarity(settings: ModelSettings) -> Similarity:
    from gpu_workers.engine.models.local import similarity

    if settings.profile == "openai":
        source = settings.bertscore_source
        layer, baseline = similarity.DEBERTA_LAYER, similarity.DEBERTA_BASELINE
        return similarity.BertScoreSimilarity(
            source, num_layers=layer, baseline=baseline, name=f"bertscore-{source}-{layer}", device=settings.device
        )
    layer, baseline = similarity.MINILM_LAYER, similarity.MINILM_BASELINE
    folder = weights.fetch("all-minilm-l6-v2")
    return similarity.BertScoreSimilarity(folder, num_layers=layer, baseline=baseline, name=EMBEDDED_SIMILARITY)


@cache
def _transcriber(settings: ModelSettings) -> Transcriber:
    from gpu_workers.engine.models.local.whisper import WhisperTranscriber

    if settings.profile == "openai":
        kind = "float16" if settings.device.startswith("cuda") else "int8"
        source = settings.whisper_source
        return WhisperTranscriber(source, name=f"whisper-{source}", device=settings.device, compute_type=kind)
    return WhisperTranscriber(weights.fetch("whisper-base"), name="whisper-base", threads=settings.threads)
