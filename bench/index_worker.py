"""An index worker as it is deployed, with a served VLM, and with instant models in place of those of this machine.

Embedders, similarity and speech run on a GPU or a server of their own where a VLM is served; here they would take the
two cores that the measured work needs. python -m bench.index_worker ARGUMENTS-OF-CELERY-WORKER…
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import cache
from unittest.mock import patch

from celery.__main__ import main as celery

from bench.instant_models import EqualTexts, instant_models
from gpu_workers.engine.models.roles import ChatCapabilities, IndexModels, Meter
from gpu_workers.engine.models.served.chat import OpenAIChatModel
from gpu_workers.engine.models.served.events import VlmEventWriter
from gpu_workers.engine.models.served.vision import VlmDescriber


class SameScene(EqualTexts):
    """Scores 1 for texts that begin with the same scene ("scene 12 …") and 0 for all others."""

    name = "same scene"

    def encode(self, texts: Sequence[str], *, meter: Meter) -> Sequence[object]:
        return [" ".join(text.split()[:2]) for text in texts]


@cache
def index_models() -> IndexModels:
    concurrency = int(os.environ["MODEL_CONCURRENCY"])
    model = OpenAIChatModel(
        base_url=os.environ["DESCRIBER_URL"],
        model="scripted",
        capabilities=ChatCapabilities(32_768, images=True, video=True),
        concurrency=concurrency,
    )
    return instant_models(
        describer=VlmDescriber(model, concurrency=concurrency),
        event_writer=VlmEventWriter(model),
        similarity=SameScene(),
    )


if __name__ == "__main__":
    index_models()
    with patch("gpu_workers.tasks.models.index_models", index_models):
        sys.argv = ["celery", "-A", "workers.app", "worker", *sys.argv[1:]]
        celery()
