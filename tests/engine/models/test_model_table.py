"""The table of models and presets: licences, revisions, memory, and that no model brings code of its own."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gpu_workers.engine.models.memory import CONTEXT_GIB, server_memory
from gpu_workers.engine.models.model_table import (
    FRAMES_PER_VIDEO,
    PATH,
    ROLES,
    Model,
    Preset,
    Server,
    find_model,
    parse,
    preset,
    table,
)
from gpu_workers.engine.models.pictures import jpeg_of, jpeg_size
from gpu_workers.engine.models.served.vision import FRAMES_PER_CHUNK
from gpu_workers.engine.models.weight_table import WEIGHTS

ROOT = Path(__file__).parents[3]
PERMISSIVE = frozenset({"Apache-2.0", "MIT", "BSD-3-Clause"})
"""Licences under which a model may enter the table."""
MODELS, PRESETS = table().models, table().presets
GPU_PRESETS = [one for one in PRESETS.values() if one.gpu_gib]
SERVERS = [(one, server) for one in GPU_PRESETS for server in one.servers.values()]


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_every_model_has_a_permissive_licence_and_a_fixed_revision(model: Model) -> None:
    assert model.licence in PERMISSIVE
    assert model.licence_source
    assert model.revision_source
    if model.source == "registry":
        assert (model.revision, model.licence) == ("", WEIGHTS[model.name].licence)
    else:
        assert model.source == "hub"
        assert re.fullmatch("[0-9a-f]{40}", model.revision)


def test_every_registry_weight_is_in_the_table() -> None:
    assert {model.name for model in MODELS.values() if model.source == "registry"} == set(WEIGHTS)


@pytest.mark.long
def test_no_code_asks_a_model_repository_for_code() -> None:
    for folder in ("backend", "bench", "gpu_workers", "infra", "workers"):
        for path in (ROOT / folder).rglob("*.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            names = {node.arg for node in ast.walk(tree) if isinstance(node, ast.keyword)}
            texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
            assert not {"trust_remote_code", "code_revision"} & (names | texts), path
            assert not any(isinstance(text, str) and text.startswith("--trust-remote-code") for text in texts), path


@pytest.mark.parametrize(("one", "server"), SERVERS, ids=[f"{one.name} {server.name}" for one, server in SERVERS])
def test_each_server_fits_its_share_with_one_whole_window(one: Preset, server: Server) -> None:
    model = MODELS[server.model]
    assert server_memory(model, server).total <= server.memory_share * one.gpu_gib[server.gpu]
    assert server.context_tokens <= model.window
    assert server.images <= model.images or server.task == "embed"
    assert model.video or not server.video
    assert bool(server.picture_pixels) == bool(model.vision_hidden)


def test_without_a_limit_of_pictures_the_vlm_of_a_small_card_does_not_start() -> None:
    """vLLM keeps memory for one picture of 16,384 tokens: 65,536 patches of (6 x 1,152 + 2 x 4,304) halves, 1.9 GiB."""
    one = preset("gpu-24gb")
    vlm = replace(one.servers["vlm"], picture_pixels=16_384 * 32 * 32, video=False)
    needed = server_memory(MODELS[vlm.model], vlm)
    assert needed.encoders == pytest.approx(65_536 * 15_520 * 2 / 2**30 + 16_384 * 4_096 * 8 / 2**30)
    assert needed.total > vlm.memory_share * one.gpu_gib[0]


def test_the_largest_picture_that_the_product_sends_is_within_the_limit() -> None:
    picture = np.zeros((3_000, 3_000, 3), dtype=np.uint8)
    width, height = jpeg_size(jpeg_of(picture)) or (0, 0)
    assert FRAMES_PER_CHUNK == FRAMES_PER_VIDEO
    for _, server in SERVERS:
        assert server.task != "generate" or server.picture_pixels in {0, 576 * 32 * 32}
        assert not server.video or width * height <= server.picture_pixels


@pytest.mark.parametrize("one", GPU_PRESETS, ids=lambda one: one.name)
def test_the_servers_and_workers_of_a_card_leave_a_rest_of_it(one: Preset) -> None:
    for running, index_share in ((one, []), (one.with_index_card(), [one.in_process_share])):
        for card, gib in enumerate(one.gpu_gib):
            shares = [server.memory_share for server in running.servers.values() if card in server.gpus]
            shares += index_share if card == 0 else []
            assert sum(shares) <= 0.9 + 1e-9
            assert sum(shares) + len(shares) * CONTEXT_GIB / gib <= 0.98
    weights = sum(MODELS[name].weights_gib for name in one.in_process.values() if MODELS[name].source == "hub")
    assert weights + 0.5 <= one.in_process_share * one.gpu_gib[0]


def test_every_kind_of_machine_has_its_preset() -> None:
    assert set(PRESETS) == {"embedded", "hosted", "gpu-24gb", "gpu-48gb", "gpu-80gb", "two-gpus", "four-gpus"}
    assert [len(one.gpu_gib) for one in GPU_PRESETS] == [1, 1, 1, 2, 4]
    for one in GPU_PRESETS:
        needed = {
            "describer",
            "checker",
            "reasoner",
            "text_embedder",
            "frame_embedder",
            "token_embedder",
            "transcriber",
        }
        assert needed <= set(one.roles) <= set(ROLES)
        assert set(one.roles.values()) == set(one.servers), "no server without a role"
    assert preset("four-gpus").served_model("checker") != preset("four-gpus").served_model("describer")


def test_an_index_worker_with_a_card_transcribes_itself() -> None:
    one = preset("gpu-48gb")
    with_card = one.with_index_card()
    assert set(one.servers) - set(with_card.servers) == {"transcriber"} == set(one.roles) - set(with_card.roles)
    server = server_memory(MODELS["openai/whisper-large-v3-turbo"], one.servers["transcriber"])
    assert server.total > MODELS[one.in_process["transcriber"]].weights_gib + 0.5, "a server of its own takes more"
    assert one.in_process_share <= one.servers["transcriber"].memory_share, "so that both fit the same share"


def test_a_preset_that_does_not_fit_together_is_refused() -> None:
    raw = json.loads(PATH.read_text())
    raw["presets"]["gpu-24gb"]["roles"]["reranker"] = "vlm"
    with pytest.raises(ValueError, match="does not play reranker"):
        parse(raw)
    raw["presets"]["gpu-24gb"]["roles"]["reranker"] = "none"
    with pytest.raises(ValueError, match="no server 'none'"):
        parse(raw)
    del raw["presets"]["gpu-24gb"]["roles"]["reranker"]
    raw["presets"]["gpu-24gb"]["servers"]["vlm"]["tensor_parallel"] = 2
    with pytest.raises(ValueError, match="cards that the preset does not have"):
        parse(raw)


def test_unknown_names() -> None:
    assert find_model("gpt-4o") is None
    with pytest.raises(ValueError, match=r"MODEL_PRESET is one of embedded, hosted, .*'best'"):
        preset("best")
