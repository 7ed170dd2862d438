"""The answering methods by name. Each is one module; all share engine.answering.contract."""

from __future__ import annotations

from gpu_workers.engine.answering.methods.ava import Ava
from gpu_workers.engine.answering.methods.avataar import Avataar
from gpu_workers.engine.answering.methods.avp_lite import AvpLite
from gpu_workers.engine.answering.methods.baselines import CaptionRag, NearestFrames, Uniform
from gpu_workers.engine.answering.methods.dvd_lite import DvdLite
from gpu_workers.engine.answering.methods.method import CataloguedMethod as CataloguedMethod
from gpu_workers.engine.answering.methods.method import Method as Method
from gpu_workers.engine.answering.methods.ravu import Ravu
from gpu_workers.engine.answering.methods.videoagent import VideoAgent
from gpu_workers.engine.answering.methods.videoagent_mem import VideoAgentMem


class UnknownMethod(ValueError):
    """No answering method has that name."""

    code = "unknown_method"


_METHODS = (Ava, Uniform, NearestFrames, CaptionRag, DvdLite, VideoAgent, Avataar, AvpLite, VideoAgentMem, Ravu)

METHODS: dict[str, CataloguedMethod] = {method.name: method() for method in _METHODS}


def method_named(name: str) -> CataloguedMethod:
    """Return the method of that name. Raises UnknownMethod, which names the methods there are."""
    try:
        return METHODS[name]
    except KeyError:
        raise UnknownMethod(f"no method {name!r}; there are {', '.join(sorted(METHODS))}") from None
