"""The models of an evaluation: those of the environment, or the embedded models with a server started here."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from bench.evaluation.cached_calls import CachedChat, CachedTextEmbedder, CallCache
from bench.evaluation.unasked import UnaskedChat
from gpu_workers.engine.answering.budget import Spending
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.contract import Budget
from gpu_workers.engine.models.bindings import bind_answer_models, load_answer_models
from gpu_workers.engine.models.calibration import EMBEDDED_REASONER
from gpu_workers.engine.models.roles import AnswerModels, Meter
from gpu_workers.engine.models.settings import ModelSettings, RoleSettings
from infra.local.stack import Stack


@contextmanager
def answering_models() -> Iterator[tuple[ModelSettings, AnswerModels]]:
    """Yield the models of a question. Without REASONER_URL the embedded reasoner runs while the context is open."""
    settings = ModelSettings.from_env()
    with ExitStack() as opened:
        if not settings.reasoner.url:
            # Otherwise a terminated evaluation would leave its server behind.
            before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
            opened.callback(signal.signal, signal.SIGTERM, before)
            folder = opened.enter_context(tempfile.TemporaryDirectory(prefix="ava-eval-"))
            stack = opened.enter_context(Stack(Path(folder), frozenset({"llama"}), durable=False))
            started = {name: value for server in stack.servers for name, value in server.env().items()}
            settings = ModelSettings.from_env({**os.environ, **started})
        yield settings, load_answer_models(settings)


@contextmanager
def caption_models(folder: Path, *, reasoner: bool) -> Iterator[AnswerModels]:
    """Yield the models of a question over captions, with their answers kept in folder.

    reasoner: whether a reasoner is asked at all. Without one the support of choices is weighed as for the reasoner that
    REASONER_MODEL names, by default the embedded one.
    """
    cache = CallCache(folder / "calls.sqlite")
    with ExitStack() as opened:
        if reasoner:
            _, models = opened.enter_context(answering_models())
            chat: CachedChat | UnaskedChat = CachedChat(models.reasoner, cache)
        else:
            settings = ModelSettings.from_env()
            chat = UnaskedChat(settings.reasoner.model or EMBEDDED_REASONER)
            models = bind_answer_models(replace(settings, checker=RoleSettings()), chat)
        embedder = CachedTextEmbedder(models.text_embedder, cache)
        # A caption replaces its second's frame, so both are in the space of texts, and there is no picture to check.
        yield replace(models, reasoner=chat, text_embedder=embedder, frame_embedder=embedder, checker=None)


def unlimited_calls(models: AnswerModels, meter: Meter, *, in_flight: int = 1) -> Calls:
    """Return the calls of a part of the engine that runs by itself: without a budget, and never stopped."""
    spending = Spending(Budget(), meter, clock=time.monotonic, should_stop=lambda: False)
    return Calls(models, spending=spending, meter=meter, in_flight=in_flight)
