"""What a chat server makes of the parts of OpenAI's protocol that not every server has: sent until it refuses them."""

from __future__ import annotations

import json
import logging
import re
import threading
from collections.abc import Mapping
from typing import Any

import openai

from gpu_workers.engine.models.roles import ChatCapabilities

logger = logging.getLogger("ava.models")

THINKING_TOKENS = 2_048
"""Tokens that a model gets for its reasoning, in addition to those of the answer, if the server cannot turn it off. At
most a quarter of the window."""

_OPTIONAL: Mapping[str, tuple[str, ...]] = {
    "max_tokens": (),
    "temperature": (),
    "seed": (),
    "n": (),
    "logprobs": ("top_logprobs",),
    "response_format": ("json_schema", "json schema", "guided", "structured output"),
    "cache_salt": (),
    "chat_template_kwargs": ("enable_thinking",),
    "media_io_kwargs": (),
}
"""Fields that a server may refuse, with other words by which its refusal may name them."""
_REFUSAL = re.compile(
    r"unsupported|not (?:currently )?support|does ?n[o']t support|unrecogni[sz]ed|unknown|unexpected|not permitted|"
    r"not allowed|extra (?:inputs|fields)|extra_forbidden|unavailable|only one completion|not (?:yet )?implemented|"
    r"only the default",
    re.IGNORECASE,
)


class Dialect:
    """What one server has shown of itself; shared by all threads of a client.

    capabilities: what was configured or probed. A field that the server refuses is never sent again. A model that
    reasons although it was asked not to gets room for its reasoning.
    """

    def __init__(self, name: str, capabilities: ChatCapabilities) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._refused: set[str] = set()
        if not capabilities.schemas:
            self._refused.add("response_format")
        if not capabilities.samples:
            self._refused.add("n")
        if not capabilities.log_probabilities:
            self._refused.add("logprobs")
        self._shares_cache = capabilities.shares_cache
        self._thinks = capabilities.thinks
        self._thinks_anyway = False
        self._thinking_tokens = min(THINKING_TOKENS, capabilities.context_tokens // 4)

    def takes(self, field: str) -> bool:
        """Whether the server has not refused this field."""
        with self._lock:
            return field not in self._refused

    def shares_cache(self) -> bool:
        """Whether the server may answer out of a cache of prompts that it keeps for all tenants together."""
        return self._shares_cache or not self.takes("cache_salt")

    def body(self, wanted: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of wanted as this server takes them. schema stands for the JSON schema of the answer."""
        with self._lock:
            refused, thinks, thinks_anyway = frozenset(self._refused), self._thinks, self._thinks_anyway
        body = {name: value for name, value in wanted.items() if name not in refused | {"schema"}}
        schema = wanted.get("schema")
        if schema is not None:
            if "response_format" in refused:
                body["messages"] = with_schema_in_words(body["messages"], schema["schema"])
            else:
                body["response_format"] = {"type": "json_schema", "json_schema": {**schema, "strict": True}}
        if "logprobs" in refused:
            body.pop("top_logprobs", None)
        room = wanted["max_tokens"] + (self._thinking_tokens if thinks_anyway else 0)
        if "max_tokens" in refused:
            body["max_completion_tokens"] = room
        else:
            body["max_tokens"] = room
        extra = {
            name: body.pop(name) for name in ("cache_salt", "media_io_kwargs", "chat_template_kwargs") if name in body
        }
        if thinks and "chat_template_kwargs" not in refused:
            extra["chat_template_kwargs"] = {"enable_thinking": False}
        if extra:
            body["extra_body"] = extra
        return body

    def learn(self, error: Exception, body: Mapping[str, Any]) -> bool:
        """Whether error refuses a field of body that was not known to be refused: the request may be sent again."""
        if not isinstance(error, openai.APIStatusError) or error.status_code not in {400, 422}:
            return False
        sent = {**body, **body.get("extra_body", {})}
        named = [field for field in _OPTIONAL if field in sent and _names(error, field)]
        with self._lock:
            new = [field for field in named if field not in self._refused]
            self._refused.update(new)
        for field in new:
            logger.warning("%s refuses %s: it is not sent again", self._name, field)
        if "cache_salt" in new:
            logger.warning("%s shares its cache of prompts between tenants", self._name)
        return bool(named)

    def thought(self) -> bool:
        """Note that an answer began with reasoning. Returns whether the next request will leave more room for it."""
        with self._lock:
            asked_not_to = self._thinks and "chat_template_kwargs" not in self._refused
            before = (self._thinks, self._thinks_anyway)
            self._thinks_anyway = self._thinks_anyway or asked_not_to or "chat_template_kwargs" in self._refused
            self._thinks = True
            return before != (self._thinks, self._thinks_anyway)


def _names(error: openai.APIStatusError, field: str) -> bool:
    """Whether a refusal is about this field, by the parameter that it names or by its words."""
    text = str(error)
    if error.param:
        return error.param in {field, *_OPTIONAL[field]} and bool(_REFUSAL.search(text))
    if field == "n":
        quoted = re.search(r"""['"`]n['"`]""", text)
        return "only one completion" in text.lower() or bool(quoted and _REFUSAL.search(text))
    words = "|".join(map(re.escape, (field, *_OPTIONAL[field])))
    return bool(_REFUSAL.search(text) and re.search(rf"(?<![a-z_])({words})(?![a-z_])", text, re.IGNORECASE))


def with_schema_in_words(messages: list[dict[str, Any]], schema: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return messages whose last one ends with the form of the answer, for a server that keeps to no schema."""
    words = f"Answer with one JSON object only, without any text around it, in this form:\n{in_words(schema)}"
    *before, last = messages
    content = last["content"]
    if isinstance(content, str):
        return [*before, {**last, "content": f"{content}\n\n{words}"}]
    return [*before, {**last, "content": [*content, {"type": "text", "text": words}]}]


def in_words(schema: Mapping[str, Any]) -> str:
    """Return a JSON schema as an example of its form: {"summary": <text of at most 900 characters>}."""
    if "enum" in schema:
        return " | ".join(json.dumps(value, ensure_ascii=False) for value in schema["enum"])
    if "anyOf" in schema:
        return " | ".join(in_words(option) for option in schema["anyOf"])
    kind = schema.get("type")
    if kind == "object":
        fields = (f'"{name}": {in_words(part)}' for name, part in schema.get("properties", {}).items())
        return "{" + ", ".join(fields) + "}"
    if kind == "array":
        most = f" (at most {schema['maxItems']})" if "maxItems" in schema else ""
        return f"[{in_words(schema.get('items', {}))}, ...{most}]"
    if kind == "string":
        return f"<text of at most {schema['maxLength']} characters>" if "maxLength" in schema else "<text>"
    return {"integer": "<whole number>", "number": "<number>", "boolean": "true | false"}.get(str(kind), "<value>")
