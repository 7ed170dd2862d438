"""The answering methods by name. Each is one module; all share engine.answering.contract."""

from __future__ import annotations

from typing import Protocol

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.contract import Answer
from gpu_workers.engine.answering.methods.ava import Ava
from gpu_workers.engine.answering.methods.caption_rag import CaptionRag
from gpu_workers.engine.answering.methods.uniform import Uniform
from gpu_workers.engine.answering.methods.vector import NearestFrames


class UnknownMethod(ValueError):
    """No answering method has that name."""

    code = "unknown_method"


class Method(Protocol):
    """A way to answer. version changes whenever the method may answer differently."""

    name: str
    version: str

    def answer(self, asked: Asked, calls: Calls) -> Answer:
        """Answer within the budget of calls. May raise Halt or ModelError before it has anything to return."""
        ...


METHODS: dict[str, Method] = {method.name: method for method in (Ava(), Uniform(), NearestFrames(), CaptionRag())}


def method_named(name: str) -> Method:
    """Return the method of that name. Raises UnknownMethod, which names the methods there are."""
    try:
        return METHODS[name]
    except KeyError:
        raise UnknownMethod(f"no method {name!r}; there are {', '.join(sorted(METHODS))}") from None
