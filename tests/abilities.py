"""What a scripted server can do, as it shows to gpu_workers.engine.models.capabilities; its answers are the script's.

    ScriptedOpenAIServer(script, abilities=Abilities(schemas=False, window=4_096))

The requests of a probe never reach a test's script.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gpu_workers.engine.models.capabilities import PROBE


@dataclass(frozen=True)
class Abilities:
    """window: what /v1/models reports as max_model_len, None for nothing. listed: extra fields of the model there.

    refuses: parameters that a request may not have. nameless: the refusal does not name them. status: of every probe
    that is not 200. key: what a client must send, "" for anything. thinks: "" or where the thoughts appear: "content",
    "reasoning_content" or "hidden"; stubborn: it cannot be asked not to.
    """

    window: int | None = 32_768
    schemas: bool = True
    samples: bool = True
    log_probabilities: bool = True
    images: bool = True
    video: bool = False
    thinks: str = ""
    stubborn: bool = False
    refuses: frozenset[str] = frozenset()
    nameless: bool = False
    status: int = 200
    models_status: int = 200
    key: str = ""
    listed: Mapping[str, Any] = field(default_factory=dict)

    def models(self, name: str, authorization: str) -> tuple[int, Mapping[str, Any]]:
        """Return status and body of GET /v1/models."""
        if not self._knows(authorization):
            return 401, _error("wrong key")
        if self.models_status != 200:
            return self.models_status, _error("scripted")
        window = {} if self.window is None else {"max_model_len": self.window}
        return 200, {"object": "list", "data": [{"id": name, "object": "model", **window, **self.listed}]}

    def answer(self, body: Mapping[str, Any], name: str, authorization: str) -> tuple[int, Mapping[str, Any]]:
        """Return status and body of a probe's chat completion."""
        if not self._knows(authorization):
            return 401, _error("wrong key")
        if self.status != 200:
            return self.status, _error("scripted")
        if body["model"] not in {name, *self.listed.get("aliases", ())}:
            return 404, _error(f"The model {body['model']} does not exist.")
        refused = sorted(self.refuses & set(body))
        if refused:
            return 400, _error("bad request" if self.nameless else f"Unsupported parameter: '{refused[0]}'")
        kinds = {part["type"] for part in _parts(body)}
        if ("image_url" in kinds and not self.images) or ("video_url" in kinds and not self.video):
            return 400, _error("this is not a multimodal model")
        return 200, self._completion(body)

    def _knows(self, authorization: str) -> bool:
        return not self.key or authorization == f"Bearer {self.key}"

    def _completion(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        content, extra, usage = self._words(body)
        message = {"role": "assistant", "content": content, **extra}
        first = {"token": "yes", "logprob": -0.1, "bytes": None}
        found = body.get("logprobs") and self.log_probabilities
        choice = {
            "finish_reason": "stop",
            "message": message,
            "logprobs": {"content": [{**first, "top_logprobs": [first]}]} if found else None,
        }
        choices = [{"index": k, **choice} for k in range(int(body.get("n") or 1) if self.samples else 1)]
        return {"id": "probe", "object": "chat.completion", "created": 0, "choices": choices, "usage": usage}

    def _words(self, body: Mapping[str, Any]) -> tuple[str, Mapping[str, Any], Mapping[str, Any]]:
        wanted = body.get("response_format", {}).get("json_schema", {}).get("schema", {})
        answer = "yes"
        if wanted and self.schemas:
            answer = json.dumps({name: part["enum"][0] for name, part in wanted["properties"].items()})
        silent = body.get("chat_template_kwargs", {}).get("enable_thinking") is False and not self.stubborn
        tokens = int(body.get("max_tokens") or body.get("max_completion_tokens") or 0)
        if not self.thinks or silent:
            return answer, {}, {}
        # A chain of thought takes about 100 tokens, so a short request ends inside it.
        answer = answer if tokens > 100 else ""
        if self.thinks == "content":
            return "<think>Let me see." + (f"</think>{answer}" if answer else ""), {}, {}
        if self.thinks == "hidden":
            return answer, {}, {"completion_tokens_details": {"reasoning_tokens": min(tokens, 100)}}
        return answer, {"reasoning_content": "Let me see."}, {}


def is_probe(body: Mapping[str, Any]) -> bool:
    """Whether a chat request is one of capabilities.probe()."""
    return any(part.get("text") == PROBE for part in _parts(body))


def _parts(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = []
    for message in body.get("messages", ()):
        content = message["content"]
        found += [{"type": "text", "text": content}] if isinstance(content, str) else content
    return found


def _error(message: str) -> Mapping[str, Any]:
    return {"error": {"message": message, "code": "scripted", "type": "scripted"}}
