"""The models of this process, loaded once and kept, because workers live long."""

from __future__ import annotations

from functools import cache

from gpu_workers.engine.models.bindings import load_answer_models, load_index_models
from gpu_workers.engine.models.roles import AnswerModels, IndexModels
from gpu_workers.engine.models.settings import ModelSettings


@cache
def index_models() -> IndexModels:
    return load_index_models(ModelSettings.from_env())


@cache
def answer_models() -> AnswerModels:
    return load_answer_models(ModelSettings.from_env())
