"""The models that an evaluation asks: of the environment's profile, or the embedded ones with a server started."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from bench.evaluation.cached_calls import CachedChat, CachedTextEmbedder, CallCache
from bench.evaluation.unasked import UnaskedChat
from gpu_workers.engine.models.bindings import ModelSettings, load_answer_models
from gpu_workers.engine.models.roles import AnswerModels
from infra.local.stack import Stack


@contextmanager
def answering_models() -> Iterator[tuple[ModelSettings, AnswerModels]]:
    """The models of a question. Without REASONER_URL the embedded reasoner runs as long as the context is open."""
    settings = ModelSettings.from_env()
    with ExitStack() as opened:
        if not settings.reasoner_url:
            # Else a terminated evaluation would leave its server behind.
            before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
            opened.callback(signal.signal, signal.SIGTERM, before)
            place = opened.enter_context(tempfile.TemporaryDirectory(prefix="ava-eval-"))
            stack = opened.enter_context(Stack(Path(place), frozenset({"llama"}), durable=False))
            started = {name: value for server in stack.servers for name, value in server.env().items()}
            settings = ModelSettings.from_env({**os.environ, **started})
        yield settings, load_answer_models(settings)


@contextmanager
def caption_models(folder: Path, *, reasoner: bool) -> Iterator[AnswerModels]:
    """The same over captions, with what they answered kept in folder. reasoner: whether one is asked at all."""
    cache = CallCache(folder / "calls.sqlite")
    with ExitStack() as opened:
        if reasoner:
            _, models = opened.enter_context(answering_models())
            asked: CachedChat | UnaskedChat = CachedChat(models.reasoner, cache)
        else:
            settings = ModelSettings.from_env()
            # Whatever stands there is not asked.
            models = load_answer_models(
                replace(settings, reasoner_url=settings.reasoner_url or "http://127.0.0.1:9/v1")
            )
            asked = UnaskedChat()
        embedder = CachedTextEmbedder(models.text_embedder, cache)
        # A caption stands for its second's frame, so both are in the space of texts, and there is nothing to look at.
        yield replace(models, reasoner=asked, text_embedder=embedder, frame_embedder=embedder, checker=None)
