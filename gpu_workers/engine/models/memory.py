"""How much memory of a card a model server takes: weights, one whole context, activations, graphs.

The parts of vLLM 0.32's own profile, computed from the shapes of the model. Only weights and contexts are exact; the
others are upper estimates of the largest tensors that live at once, and the constants below were not measured here.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpu_workers.engine.models.model_table import Model, Server

CONTEXT_GIB = 0.45
"""What CUDA keeps for one process. It lies outside of a server's share, because vLLM counts from the memory that is
taken after its context was made."""
WRITING_GRAPHS_GIB = 0.5
"""CUDA graphs of a server that writes."""
POOLING_GRAPHS_GIB = 0.15
"""CUDA graphs of a server that makes vectors or scores."""
_HALF = 2
"""Bytes of a number of 16 bits."""
_SAMPLED = 20
"""Bytes of one entry of the vocabulary of one sequence while a token is sampled: scores, their sorted copy with the
order, probabilities."""
_GIB = 2**30


@dataclass(frozen=True, slots=True)
class ServerMemory:
    """What one server needs of each of its cards, in GiB. window: the keys and values of one whole context, and of the
    sound that it hears. encoders: of pictures and of sound."""

    weights: float
    window: float
    text: float
    sampling: float
    encoders: float
    graphs: float

    @property
    def total(self) -> float:
        """Return the sum, which its share of a card must cover."""
        return self.weights + self.window + self.text + self.sampling + self.encoders + self.graphs


def server_memory(model: Model, server: Server) -> ServerMemory:
    """Return what a server of a model needs of each of its cards, with room for one whole context."""
    cards = server.tensor_parallel
    writes = server.task in {"generate", "transcribe"}
    held = server.context_tokens + model.audio_positions
    return ServerMemory(
        weights=model.weights_gib / cards,
        window=held * model.kv_kib_per_token / 2**20 / cards,
        text=server.batched_tokens * (6 * model.hidden + 3 * model.intermediate / cards) * _HALF / _GIB,
        sampling=server.sequences * model.vocabulary * _SAMPLED / _GIB if writes else 0.0,
        encoders=_pictures_gib(model, server) + _sound_gib(model, server),
        graphs=WRITING_GRAPHS_GIB if writes else POOLING_GRAPHS_GIB,
    )


def _pictures_gib(model: Model, server: Server) -> float:
    """Return the activations of the vision tower over the most that is encoded at once, and what it hands on.

    vLLM encodes as many pictures at once as a batch has tokens, and at least the largest picture or video.
    """
    if not model.vision_hidden:
        return 0.0
    # Two frames of a video cost as much as one picture.
    largest = max(server.picture_pixels, server.video_pixels // 2) // model.picture_patch**2
    at_once = max(server.batched_tokens, largest)
    patches = at_once * model.vision_patches
    tower = patches * (6 * model.vision_hidden + 2 * model.vision_intermediate) * _HALF
    return (tower + at_once * model.hidden * 4 * _HALF) / _GIB


def _sound_gib(model: Model, server: Server) -> float:
    """Return the activations of the encoder of sound, which reads as many positions at once as a batch has tokens."""
    if not model.audio_positions:
        return 0.0
    at_once = max(server.batched_tokens, model.audio_positions)
    return at_once * (6 * model.hidden + 2 * model.intermediate) * _HALF / _GIB
