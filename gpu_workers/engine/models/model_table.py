"""The table of models and presets, models.json: which model plays which role, on which card, under which licence.

Every client, launcher, compose file and machine takes model names, windows and parallelism from this table.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

PATH = Path(__file__).with_name("models.json")

ROLES = (
    "describer",
    "checker",
    "reasoner",
    "text_embedder",
    "frame_embedder",
    "token_embedder",
    "reranker",
    "entailer",
    "transcriber",
)
"""Roles that a server can play. The name in capitals begins the role's environment variables. token_embedder: token
embeddings for the similarity of chunks and of answers (BERTScore), so that workers need no card for it."""


FRAMES_PER_VIDEO = 6
"""Most frames of a video in a request."""


@dataclass(frozen=True, slots=True)
class Model:
    """One model. name: its hub id, or the name of its weights in weight_table for source "registry".

    revision: 40 hex digits of the hub's commit, "" for a registry weight, whose files have hashes. window: longest
    input in tokens, 0 where that means nothing. weights_gib: as loaded (16 bits where the file has 32).
    kv_kib_per_token: memory of one token of context over all GPUs. images: pictures per request. picture_patch: see
    roles.ChatCapabilities. thinks: it writes its reasoning first unless it is asked not to. small: the answering is
    bounded for it (models.calibration). layer, baseline: of BERTScore. labels: of a classifier, in their order.
    languages: ISO 639-1 codes of the languages that it understands; empty for a model of many languages.
    hidden, intermediate, vocabulary: its widths, those of a mixture for the experts that one token uses;
    vision_hidden, vision_intermediate, vision_patches: widths of its vision tower, and patches that make one token.
    audio_positions: positions of its encoder for the longest sound that it hears at once. They are 0 where no server of
    a preset runs it on a card (models.memory).
    """

    name: str
    role_kinds: tuple[str, ...]
    architecture: str
    source: str
    revision: str
    revision_source: str
    licence: str
    licence_source: str
    weights_gib: float
    window: int = 0
    kv_kib_per_token: float = 0.0
    images: int = 0
    video: bool = False
    picture_patch: int = 28
    thinks: bool = False
    small: bool = False
    dimension: int = 0
    query_prefix: str = ""
    layer: int = 0
    baseline: float = 0.0
    labels: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    hidden: int = 0
    intermediate: int = 0
    vocabulary: int = 0
    vision_hidden: int = 0
    vision_intermediate: int = 0
    vision_patches: int = 0
    audio_positions: int = 0


@dataclass(frozen=True, slots=True)
class Server:
    """One model server of a preset. model: a hub id of the table, which is also the name under which it is served.

    task: "generate" for chat, "transcribe" for speech, or the pooling task that vLLM runs it with: "embed",
    "token_embed", or "classify" for a reranker or a classifier. gpu: index of its first card; it takes tensor_parallel
    cards. memory_share: of each card's memory. sequences: requests that it runs at once. images: pictures per request,
    0 for none. video: whether a request may hold a video. batched_tokens: of all requests in one step. picture_pixels:
    of the largest picture; the server makes larger ones smaller, and keeps memory free for this size only.
    """

    name: str
    model: str
    task: str
    gpu: int
    tensor_parallel: int
    memory_share: float
    context_tokens: int
    sequences: int
    images: int
    video: bool
    batched_tokens: int
    picture_pixels: int = 0

    @property
    def video_pixels(self) -> int:
        """Return the pixels of the largest video: FRAMES_PER_VIDEO frames of the largest picture; 0 without video."""
        return FRAMES_PER_VIDEO * self.picture_pixels if self.video else 0

    @property
    def gpus(self) -> range:
        """Return the indices of its cards."""
        return range(self.gpu, self.gpu + self.tensor_parallel)


@dataclass(frozen=True, slots=True)
class Preset:
    """Default models of one kind of machine. gpu_gib: usable memory of each card, which is less than its name says.

    roles: the server that plays each role. in_process: model, or built-in, of each role that runs in the workers;
    in_process_share: the share of the first card for them, where the index worker has that card (with_index_card).
    segments_at_once, questions_at_once: work of one worker process, which mostly waits for model servers. detector_fps:
    frames per second in which things are followed. detector_batch: pictures of one call of a detector on a GPU.
    cpu_reasoner: weights of the registry that answer on the host's processor, "" where a card or the operator has the
    reasoner.
    """

    name: str
    summary: str
    gpu_gib: tuple[float, ...]
    roles: Mapping[str, str]
    servers: Mapping[str, Server]
    in_process: Mapping[str, str]
    in_process_share: float
    segments_at_once: int
    questions_at_once: int
    detector_fps: float
    detector_batch: int
    cpu_reasoner: str = ""

    def with_index_card(self) -> Preset:
        """Return the preset for index workers on its first card.

        They play the roles that both lists have, in one process with one context of CUDA, so these roles' servers do
        not run.
        """
        roles = {role: server for role, server in self.roles.items() if role not in self.in_process}
        servers = {name: server for name, server in self.servers.items() if name in roles.values()}
        return replace(self, roles=roles, servers=servers)

    def served_model(self, role: str) -> str:
        """Return the name under which the role's model is served, "" if the preset does not name it."""
        server = self.roles.get(role)
        return self.servers[server].model if server else ""


@dataclass(frozen=True, slots=True)
class ModelTable:
    """All models and presets by name."""

    models: Mapping[str, Model]
    presets: Mapping[str, Preset]


@cache
def table() -> ModelTable:
    """Return the table. Raises ValueError if a preset names a model or server that the table does not have."""
    return parse(json.loads(PATH.read_text(encoding="utf-8")))


def find_model(name: str) -> Model | None:
    """Return the model of this name, None if the table does not have it."""
    return table().models.get(name)


def speaks(name: str, language: str) -> bool:
    """Whether a model understands a language (ISO 639-1); True for a model that the table does not have."""
    model = find_model(name)
    return model is None or not model.languages or language in model.languages


def preset(name: str) -> Preset:
    """Return the preset of this name. Raises ValueError, naming MODEL_PRESET and the presets, if there is none."""
    presets = table().presets
    if name not in presets:
        raise ValueError(f"MODEL_PRESET is one of {', '.join(presets)}, got {name!r}")
    return presets[name]


def parse(raw: Mapping[str, Any]) -> ModelTable:
    """Return the table of parsed JSON. Raises ValueError for a preset whose parts do not fit together."""
    models = {name: _model(name, row) for name, row in raw["models"].items()}
    presets = {name: _preset(name, row) for name, row in raw["presets"].items()}
    for one in presets.values():
        _check(one, models)
    return ModelTable(models, presets)


def _model(name: str, row: Mapping[str, Any]) -> Model:
    lists = {key: tuple(row[key]) for key in ("role_kinds", "labels", "languages") if key in row}
    return Model(**{"name": name, **row, **lists})


def _preset(name: str, row: Mapping[str, Any]) -> Preset:
    in_process = dict(row["in_process"])
    share = float(in_process.pop("memory_share"))
    return Preset(
        name=name,
        summary=row["summary"],
        gpu_gib=tuple(row["gpu_gib"]),
        roles=row["roles"],
        servers={key: Server(name=key, **server) for key, server in row["servers"].items()},
        in_process=in_process,
        in_process_share=share,
        segments_at_once=row["segments_at_once"],
        questions_at_once=row["questions_at_once"],
        detector_fps=float(row["detector_fps"]),
        detector_batch=row["detector_batch"],
        cpu_reasoner=row.get("cpu_reasoner", ""),
    )


def _check(one: Preset, models: Mapping[str, Model]) -> None:
    for role, name in one.roles.items():
        if role not in ROLES or name not in one.servers:
            raise ValueError(f"preset {one.name}: role {role!r} has no server {name!r}")
        model = one.servers[name].model
        if model not in models or role not in models[model].role_kinds:
            raise ValueError(f"preset {one.name}: {model!r} of server {name!r} does not play {role}")
    for server in one.servers.values():
        if server.gpus.stop > len(one.gpu_gib):
            raise ValueError(f"preset {one.name}: server {server.name!r} takes cards that the preset does not have")
