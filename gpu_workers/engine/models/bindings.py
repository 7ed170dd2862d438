"""The implementations of the model roles: one loader per role, chosen by the settings and by what the servers say.

Nothing is loaded on import. Each model is loaded once per process and per settings, when a role first needs it. What
runs in process is loaded before a server is asked, so that a worker that waits for its server is otherwise ready.
"""

from __future__ import annotations

import importlib.util
from functools import cache
from typing import TYPE_CHECKING

from gpu_workers.engine.models import weights
from gpu_workers.engine.models.calibration import EMBEDDED_SIMILARITY, EMBEDDED_TEXT_EMBEDDER, calibration_of
from gpu_workers.engine.models.capabilities import embedding_width, report_of, served_model
from gpu_workers.engine.models.model_table import find_model, preset
from gpu_workers.engine.models.roles import (
    AnswerModels,
    ChatModel,
    Checker,
    Describer,
    Entailer,
    EventWriter,
    Extractor,
    FrameEmbedder,
    IndexModels,
    ModelError,
    Narrator,
    Reranker,
    Similarity,
    Summariser,
    TextEmbedder,
    Transcriber,
)
from gpu_workers.engine.models.served.chat import OpenAIChatModel
from gpu_workers.engine.models.served.embeddings import ServedFrameEmbedder, ServedTextEmbedder, ServedTokenSimilarity
from gpu_workers.engine.models.served.ranking import ServedEntailer, ServedReranker
from gpu_workers.engine.models.settings import CONSE, E5, MINILM, SSD, ModelSettings, RoleSettings

if TYPE_CHECKING:
    from gpu_workers.engine.models.observer.detection import BatchDetector
    from gpu_workers.engine.models.observer.detector import SsdDetector
    from gpu_workers.engine.models.observer.following import Follower
    from gpu_workers.engine.models.observer.scene import SceneClassifier

IMAGES = 64
"""Maximum number of pictures in one request to a model that the table does not have."""
WINDOW = 512
"""Window in tokens of a pooling server that neither reports one nor serves a model of the table."""


# --- chat servers --------------------------------------------------------------------------------------------------


def reasoner(settings: ModelSettings) -> OpenAIChatModel:
    """Return the LLM. Raises ModelError: not_configured without REASONER_URL, else what its server answers."""
    if not settings.reasoner.url:
        raise _missing("REASONER_URL is not set: no model answers questions")
    return _chat(settings.reasoner, settings.concurrency, settings.timeout_s)


def vision_model(settings: ModelSettings) -> OpenAIChatModel:
    """Return the VLM that describes. Raises ModelError: not_configured without DESCRIBER_URL."""
    if not settings.describer.url:
        raise _missing("DESCRIBER_URL is not set: no model looks at frames")
    return _seeing("DESCRIBER_URL", settings.describer, settings)


def _seeing(variable: str, role: RoleSettings, settings: ModelSettings) -> OpenAIChatModel:
    model = _chat(role, settings.concurrency, settings.timeout_s)
    if not model.capabilities.images:
        message = f"{variable}: {model.name} at {role.url} takes no pictures"
        raise ModelError("model_misconfigured", message, retryable=True, dependency=role.dependency)
    return model


@cache
def _chat(role: RoleSettings, concurrency: int, timeout_s: float) -> OpenAIChatModel:
    report = report_of(role)
    return OpenAIChatModel(
        base_url=role.url,
        model=report.model,
        api_key=role.api_key,
        dependency=role.dependency,
        capabilities=report.capabilities,
        concurrency=concurrency,
        timeout_s=timeout_s,
    )


def _images(settings: ModelSettings, model: str) -> int:
    """Return the maximum number of pictures in one request to the model."""
    if settings.describer_images is not None:
        return settings.describer_images
    row = find_model(model)
    return row.images if row is not None and row.images else IMAGES


# --- all roles of a job --------------------------------------------------------------------------------------------


@cache
def load_index_models(settings: ModelSettings) -> IndexModels:
    """Return the roles of an index job. Raises WeightsError or ModelError if one of them is not available."""
    compares, hears = similarity(settings), transcriber(settings)
    embedder, frames = text_embedder(settings), frame_embedder(settings)
    describer, summariser, extractor = _perception(settings)
    return IndexModels(
        describer=describer,
        summariser=summariser,
        extractor=extractor,
        text_embedder=embedder,
        frame_embedder=frames,
        similarity=compares,
        narrator=_narrator(settings),
        calibration=calibration_of(similarity=compares.name, text_embedder=embedder.name),
        transcriber=hears,
        event_writer=_event_writer(settings),
    )


@cache
def load_answer_models(settings: ModelSettings) -> AnswerModels:
    """Return the roles of a question. Raises WeightsError or ModelError if one of them is not available."""
    if not settings.reasoner.url:
        reasoner(settings)
    # In-process models first; the servers are asked after them.
    similarity(settings), text_embedder(settings), frame_embedder(settings)
    return bind_answer_models(settings, reasoner(settings))


def bind_answer_models(settings: ModelSettings, llm: ChatModel) -> AnswerModels:
    """Return the roles of a question around a reasoner, which is not asked. Raises WeightsError or ModelError."""
    compares, embedder = similarity(settings), text_embedder(settings)
    return AnswerModels(
        reasoner=llm,
        text_embedder=embedder,
        frame_embedder=frame_embedder(settings),
        similarity=compares,
        calibration=calibration_of(reasoner=llm.name, similarity=compares.name, text_embedder=embedder.name),
        checker=_checker(settings, llm),
        reranker=_reranker(settings.reranker, settings),
        entailer=_entailer(settings.entailer, settings),
        embedder_languages=_languages(settings.text_embedder),
    )


def _languages(embedder: RoleSettings) -> tuple[str, ...]:
    """Return AnswerModels.embedder_languages: those of the table, English for a model that the table does not have."""
    row = find_model(served_model(embedder).name if embedder.url else embedder.model or MINILM)
    return row.languages if row is not None else ("en",)


def _checker(settings: ModelSettings, llm: ChatModel) -> Checker:
    from gpu_workers.engine.models.observer.checker import ObserverChecker
    from gpu_workers.engine.models.served.vision import VlmChecker

    if not settings.checker.url:
        return ObserverChecker(llm)
    variable = "DESCRIBER_URL" if settings.checker.url == settings.describer.url else "CHECKER_URL"
    vlm = _seeing(variable, settings.checker, settings)
    return VlmChecker(vlm, max_frames=_images(settings, vlm.name))


def _perception(settings: ModelSettings) -> tuple[Describer, Summariser, Extractor]:
    if settings.describer.url:
        from gpu_workers.engine.models.served.events import FRAMES_PER_EVENT, LlmSummariser, VlmExtractor
        from gpu_workers.engine.models.served.vision import FRAMES_PER_CHUNK, VlmDescriber

        vlm = vision_model(settings)
        images = _images(settings, vlm.name)
        described = VlmDescriber(vlm, concurrency=settings.concurrency, frames=min(FRAMES_PER_CHUNK, images))
        describer = _with_tracks(described, settings)
        return describer, LlmSummariser(vlm), VlmExtractor(vlm, max_frames=min(FRAMES_PER_EVENT, images))
    from gpu_workers.engine.models.observer.events import ObserverExtractor, ObserverSummariser
    from gpu_workers.engine.models.observer.observer import Observer
    from gpu_workers.engine.models.observer.text_reader import TextReader

    text = TextReader(threads=settings.threads)
    observer = Observer(_follower(settings), _scene(settings.threads), text)
    return observer, ObserverSummariser(), ObserverExtractor()


def _with_tracks(describer: Describer, settings: ModelSettings) -> Describer:
    """Return the describer with a detector and a tracker next to it, wherever the ml extra is installed and AVA_TRACKS
    is on."""
    installed = all(importlib.util.find_spec(name) for name in ("cv2", "trackers", "ai_edge_litert"))
    if not installed or not settings.tracks:
        return describer
    from gpu_workers.engine.models.observer.tracked import TrackedDescriber

    return TrackedDescriber(describer, _follower(settings))


def _follower(settings: ModelSettings) -> Follower:
    from gpu_workers.engine.models.observer.following import Follower

    return Follower(_detector(settings), _scene(settings.threads), fps=settings.detector_fps)


def _event_writer(settings: ModelSettings) -> EventWriter | None:
    """Return the VLM, which writes an event's text and graph in one call; None without a VLM."""
    if not settings.describer.url:
        return None
    from gpu_workers.engine.models.served.events import FRAMES_PER_EVENT, VlmEventWriter

    vlm = vision_model(settings)
    return VlmEventWriter(vlm, max_frames=min(FRAMES_PER_EVENT, _images(settings, vlm.name)))


def _narrator(settings: ModelSettings) -> Narrator:
    """Return the VLM's narrator, so that indexing needs one server; without a VLM, the measured narrator."""
    from gpu_workers.engine.models.observer.narrator import MeasuredNarrator
    from gpu_workers.engine.models.served.narrator import LlmNarrator

    measured = MeasuredNarrator()
    return LlmNarrator(vision_model(settings), measured) if settings.describer.url else measured


# --- vectors, similarity, ranking: served, or in process -------------------------------------------------------------


def text_embedder(settings: ModelSettings) -> TextEmbedder:
    """Return the server's embedder, or a built-in one in process: MiniLM, or E5 for many languages. Raises ModelError
    for a model that needs a server."""
    role = settings.text_embedder
    if role.url:
        return _served_text_embedder(role, settings.concurrency, settings.timeout_s)
    if role.model == E5:
        return _e5(device_of(settings))
    if role.model not in ("", MINILM):
        raise _missing(f"TEXT_EMBEDDER_URL is not set: {role.model} does not run in process")
    return _minilm(device_of(settings))


@cache
def _served_text_embedder(role: RoleSettings, concurrency: int, timeout_s: float) -> ServedTextEmbedder:
    served = served_model(role)
    row = find_model(served.name)
    return ServedTextEmbedder(
        base_url=role.url,
        model=served.name,
        api_key=role.api_key,
        dependency=role.dependency,
        dimension=row.dimension if row is not None else embedding_width(role, served.name),
        query_prefix=row.query_prefix if row is not None else "",
        context_tokens=served.window or WINDOW,
        concurrency=concurrency,
        timeout_s=timeout_s,
    )


@cache
def _e5(device: str) -> TextEmbedder:
    from gpu_workers.engine.models.local.e5 import E5TextEmbedder

    return E5TextEmbedder(weights.fetch(E5), name=E5, device=device)


@cache
def _minilm(device: str) -> TextEmbedder:
    from gpu_workers.engine.models.local.encoders import MiniLMTextEmbedder

    return MiniLMTextEmbedder(weights.fetch(MINILM), name=EMBEDDED_TEXT_EMBEDDER, device=device)


def frame_embedder(settings: ModelSettings) -> FrameEmbedder:
    """Return the server's embedder, or one in process: SigLIP where a model is named, else ConSE."""
    role = settings.frame_embedder
    if role.url:
        return _served_frame_embedder(role, settings.concurrency, settings.timeout_s)
    if role.model not in ("", CONSE):
        return _siglip(role.model, device_of(settings))
    return _conse(device_of(settings), settings.threads)


@cache
def _served_frame_embedder(role: RoleSettings, concurrency: int, timeout_s: float) -> ServedFrameEmbedder:
    name = served_model(role).name
    row = find_model(name)
    return ServedFrameEmbedder(
        base_url=role.url,
        model=name,
        api_key=role.api_key,
        dependency=role.dependency,
        dimension=row.dimension if row is not None else embedding_width(role, name),
        query_prefix=row.query_prefix if row is not None else "",
        concurrency=concurrency,
        timeout_s=timeout_s,
    )


@cache
def _siglip(source: str, device: str) -> FrameEmbedder:
    from gpu_workers.engine.models.local.siglip import SiglipEmbedder

    return SiglipEmbedder(weights.folder_of(source), name=source, device=device)


@cache
def _conse(device: str, threads: int) -> FrameEmbedder:
    from gpu_workers.engine.models.local.conse import ConseFrameEmbedder

    cache_dir = weights.cache_dir() / "derived"
    return ConseFrameEmbedder(_minilm(device), _scene(threads), _ssd(), cache_dir=cache_dir)


def similarity(settings: ModelSettings) -> Similarity:
    """Return the similarity of chunks and of answers: over a server's token embeddings, or a model in process."""
    if settings.token_embedder.url:
        return _served_similarity(settings.token_embedder, settings.concurrency, settings.timeout_s)
    return _bert_score(settings.similarity, device_of(settings))


@cache
def _served_similarity(role: RoleSettings, concurrency: int, timeout_s: float) -> Similarity:
    served = served_model(role)
    row = find_model(served.name)
    return ServedTokenSimilarity(
        base_url=role.url,
        model=served.name,
        api_key=role.api_key,
        dependency=role.dependency,
        baseline=row.baseline if row is not None else 0.0,
        context_tokens=served.window or WINDOW,
        concurrency=concurrency,
        timeout_s=timeout_s,
    )


@cache
def _bert_score(source: str, device: str) -> Similarity:
    """Return BERTScore over a model of the table, or over a folder, which is read as a DeBERTa."""
    from gpu_workers.engine.models.local import similarity as local

    if source == MINILM:
        layer, baseline = local.MINILM_LAYER, local.MINILM_BASELINE
        folder = weights.fetch(MINILM)
        return local.BertScoreSimilarity(
            folder, num_layers=layer, baseline=baseline, name=EMBEDDED_SIMILARITY, device=device
        )
    layer, baseline = local.DEBERTA_LAYER, local.DEBERTA_BASELINE
    name = f"bertscore-{source}-{layer}"
    return local.BertScoreSimilarity(
        weights.folder_of(source), num_layers=layer, baseline=baseline, name=name, device=device
    )


def _reranker(role: RoleSettings, settings: ModelSettings) -> Reranker | None:
    return _served_reranker(role, settings.concurrency, settings.timeout_s) if role.url else None


@cache
def _served_reranker(role: RoleSettings, concurrency: int, timeout_s: float) -> ServedReranker:
    served = served_model(role)
    return ServedReranker(
        base_url=role.url,
        model=served.name,
        api_key=role.api_key,
        dependency=role.dependency,
        context_tokens=served.window or WINDOW,
        concurrency=concurrency,
        timeout_s=timeout_s,
    )


def _entailer(role: RoleSettings, settings: ModelSettings) -> Entailer | None:
    return _served_entailer(role, settings.concurrency, settings.timeout_s) if role.url else None


@cache
def _served_entailer(role: RoleSettings, concurrency: int, timeout_s: float) -> ServedEntailer:
    served = served_model(role)
    row = find_model(served.name)
    if row is None or not row.labels:
        message = f"ENTAILER_URL: {served.name} is not in the model table, which has the order of a classifier's labels"
        raise ModelError("model_misconfigured", message, retryable=True, dependency=role.dependency)
    return ServedEntailer(
        base_url=role.url,
        model=served.name,
        api_key=role.api_key,
        dependency=role.dependency,
        labels=row.labels,
        context_tokens=served.window or WINDOW,
        concurrency=concurrency,
        timeout_s=timeout_s,
    )


# --- in-process models ---------------------------------------------------------------------------------------------


def _detector(settings: ModelSettings) -> SsdDetector | BatchDetector:
    """Return the detector that is named, else the preset's, which runs only on a GPU: on a CPU it would take seconds
    for a picture."""
    source = settings.detector or preset(settings.preset).in_process["detector"]
    if source != SSD and not settings.detector and device_of(settings) == "cpu":
        source = SSD
    return _ssd() if source == SSD else _rtdetr(source, device_of(settings), settings.detector_batch)


@cache
def _ssd() -> SsdDetector:
    from gpu_workers.engine.models.observer.detector import SsdDetector

    return SsdDetector(weights.fetch(SSD))


@cache
def _rtdetr(source: str, device: str, batch: int) -> BatchDetector:
    from gpu_workers.engine.models.local.rtdetr import RtDetrDetector

    return RtDetrDetector(weights.folder_of(source), name=source, device=device, batch=batch)


@cache
def _scene(threads: int) -> SceneClassifier:
    from gpu_workers.engine.models.observer.scene import SceneClassifier

    return SceneClassifier(weights.fetch("efficientnet-lite3"), threads=threads)


def transcriber(settings: ModelSettings) -> Transcriber:
    """Return the server's transcriber, or a Whisper in process."""
    role = settings.transcriber
    if role.url:
        return _served_transcriber(role, settings.concurrency, settings.timeout_s)
    source = role.model or preset(settings.preset).in_process["transcriber"]
    return _whisper(source, device_of(settings), settings.threads)


@cache
def _served_transcriber(role: RoleSettings, concurrency: int, timeout_s: float) -> Transcriber:
    # The voice detector is not in the image of query workers.
    from gpu_workers.engine.models.served.transcription import ServedTranscriber

    return ServedTranscriber(
        base_url=role.url,
        model=served_model(role).name,
        api_key=role.api_key,
        dependency=role.dependency,
        concurrency=concurrency,
        timeout_s=timeout_s,
    )


@cache
def _whisper(source: str, device: str, threads: int) -> Transcriber:
    from gpu_workers.engine.models.local.whisper import WhisperTranscriber

    name = source if source.startswith("whisper") else f"whisper-{source}"
    kind = "float16" if device.startswith("cuda") else "int8"
    return WhisperTranscriber(weights.folder_of(source), name=name, device=device, compute_type=kind, threads=threads)


def device_of(settings: ModelSettings) -> str:
    """Return the device of in-process models. Raises ModelError, naming MODEL_DEVICE, for a GPU that is not there."""
    return _device(settings.device)


@cache
def _device(wanted: str) -> str:
    if wanted == "cpu":
        return wanted
    import torch

    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if wanted == "auto":
        return "cuda" if count else "cpu"
    index = int(wanted.partition(":")[2] or 0)
    if index >= count:
        seen = f"{count} GPUs" if count else "no GPU"
        raise _missing(f"MODEL_DEVICE is {wanted}, but torch sees {seen}")
    return wanted


def _missing(message: str) -> ModelError:
    return ModelError("not_configured", message, retryable=False)
