"""The reasoner of arms without a reasoner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gpu_workers.engine.models.roles import ChatCapabilities, ChatModel, Message, Meter, ModelError, Sample
from gpu_workers.engine.models.token_counts import tokens_of


class UnaskedChat(ChatModel):
    """A chat model that raises on every call, so that no arm uses a model unnoticed. name: of the reasoner whose
    calibration counts."""

    capabilities = ChatCapabilities(8_192)

    def __init__(self, name: str) -> None:
        self.name = name

    def sample(
        self,
        messages: Sequence[Message],
        *,
        stage: str,
        meter: Meter,
        schema: Mapping[str, Any] | None = None,
        n: int = 1,
        temperature: float = 0.0,
        max_tokens: int = 512,
        seed: int | None = None,
        timeout_s: float | None = None,
        alternatives: int = 0,
    ) -> list[Sample]:
        raise ModelError("not_configured", f"this arm asks no reasoner ({stage})", retryable=False)

    def count_tokens(self, text: str) -> int:
        return tokens_of(text)
