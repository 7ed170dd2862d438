"""Models of the worker tests: the embedded text, frame and similarity models, and scripted servers for the rest."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gpu_workers.engine.models.calibration import EMBEDDED_REASONER
from gpu_workers.engine.models.observer.detection import Detection
from gpu_workers.engine.models.observer.detector import SsdDetector
from gpu_workers.engine.models.observer.scene import SceneClassifier
from gpu_workers.tasks import models
from tests.abilities import Abilities
from tests.conftest import Cast, make_tenant
from tests.scripted_openai import ScriptedOpenAIServer
from tests.tasks.eyes import see

if TYPE_CHECKING:
    from tests.tasks.kept_index import KeptIndex


@pytest.fixture(scope="session")
def _servers() -> Iterator[tuple[ScriptedOpenAIServer, ScriptedOpenAIServer]]:
    # One pair for all tests, because loaded models are kept per settings and the addresses are settings.
    # The reasoner has the embedded one's name, so its limits and weights apply.
    also = Abilities(listed={"aliases": ["another-llm"]})
    with (
        ScriptedOpenAIServer(see, model="scripted-vlm") as vlm,
        ScriptedOpenAIServer(model=EMBEDDED_REASONER, abilities=also) as llm,
    ):
        yield vlm, llm


@pytest.fixture(scope="session", autouse=True)
def _each_picture_is_run_once() -> Iterator[None]:
    """Keep what the frame embedder's networks found in a picture: most tests index the same two recordings."""
    detections: dict[tuple[object, ...], list[Detection]] = {}
    scenes: dict[tuple[object, ...], NDArray[np.float32]] = {}
    detect, classify = SsdDetector._run, SceneClassifier._run

    def detected(
        net: SsdDetector, picture: NDArray[np.uint8], region: tuple[float, float, float, float], floor: float
    ) -> list[Detection]:
        key = (*_digest(picture), region, floor)
        if key not in detections:
            detections[key] = detect(net, picture, region, floor)
        return list(detections[key])

    def classified(net: SceneClassifier, square: NDArray[np.uint8], tensor: Mapping[str, Any]) -> NDArray[np.float32]:
        key = (*_digest(square), tensor["index"])
        if key not in scenes:
            scenes[key] = classify(net, square, tensor)
        return scenes[key].copy()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SsdDetector, "_run", detected)
        patch.setattr(SceneClassifier, "_run", classified)
        yield


def _digest(picture: NDArray[np.uint8]) -> tuple[object, ...]:
    return picture.shape, hashlib.blake2b(picture.tobytes()).digest()


@pytest.fixture(autouse=True)
def _bound(
    _servers: tuple[ScriptedOpenAIServer, ScriptedOpenAIServer], monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Make this process a worker whose VLM and reasoner are scripted; attempts follow each other at once."""
    vlm, llm = _servers
    vlm.script = see
    for server in _servers:
        server.requests.clear()
    monkeypatch.setenv("DESCRIBER_URL", vlm.url)
    monkeypatch.setenv("DESCRIBER_MODEL", vlm.model)
    monkeypatch.setenv("REASONER_URL", llm.url)
    monkeypatch.setenv("REASONER_MODEL", llm.model)
    # The real detector would take most of the time; the tests of objects turn it on.
    monkeypatch.setenv("AVA_TRACKS", "off")
    monkeypatch.setattr("backend.jobs.leases.RETRY_BASE_SECONDS", 0)
    monkeypatch.setattr("backend.jobs.breakers.PROBE_BASE_SECONDS", 0)
    models.index_models.cache_clear()
    models.answer_models.cache_clear()
    yield
    models.index_models.cache_clear()
    models.answer_models.cache_clear()


@pytest.fixture
def vlm(_servers: tuple[ScriptedOpenAIServer, ScriptedOpenAIServer]) -> ScriptedOpenAIServer:
    """Return the VLM that describes, summarises, extracts and checks; a test may replace its script."""
    return _servers[0]


@pytest.fixture
def llm(_servers: tuple[ScriptedOpenAIServer, ScriptedOpenAIServer]) -> ScriptedOpenAIServer:
    """Return the reasoner; the test writes its script."""
    return _servers[1]


@pytest.fixture
def kept_index(database: None, _bound: None) -> KeptIndex:
    """Return the tenant and the video that are indexed once per process; acme is that tenant for such a test."""
    from tests.tasks import kept_index  # only now, because it needs the settings

    return kept_index.kept_index()


@pytest.fixture
def acme(request: pytest.FixtureRequest, database: None) -> Cast:
    if "kept_index" in request.fixturenames:
        kept: KeptIndex = request.getfixturevalue("kept_index")
        return kept.cast
    return make_tenant("acme")
