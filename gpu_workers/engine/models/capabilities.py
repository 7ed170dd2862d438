"""Finds out what a model server does: the models that it lists, their window, and, by four tiny requests, the rest.

A server is asked once per process. What it cannot do is "no", because every caller has another way; a server that does
not answer, or that is busy, is an error that passes.
"""

from __future__ import annotations

import base64
import json
import re
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import BytesIO
from typing import Any

import httpx
from PIL import Image as PILImage

from gpu_workers.engine.models.model_table import Model, find_model
from gpu_workers.engine.models.roles import ChatCapabilities, ModelError
from gpu_workers.engine.models.settings import RoleSettings
from gpu_workers.engine.tls import tls

DEFAULT_WINDOW = 32_768
"""Window of a model whose server does not report it and that the table does not have."""
PROBE = "This checks what the server can do. Answer with one word: yes."
_SCHEMA_WORD = "seven"
_SCHEMA = {
    "type": "object",
    "properties": {"found": {"enum": [_SCHEMA_WORD]}},
    "required": ["found"],
    "additionalProperties": False,
}
"""A schema that the prompt does not mention: only a server that enforces schemas answers in it."""
_OPTIONAL: Mapping[str, Mapping[str, Any]] = {
    "temperature": {"temperature": 0.6},
    "logprobs": {"logprobs": True, "top_logprobs": 2},
    "n": {"n": 2},
}
"""Parameters that some servers refuse. vLLM refuses several samples at temperature 0."""
_SHORT_TOKENS = 8
_SCHEMA_TOKENS = 24
_THINKING_TOKENS = 600
"""Tokens for a schema after a chain of thought that cannot be switched off."""
_TIMEOUT_S = 120.0
"""A first request may wait for a server that compiles its kernels."""
_REFUSED = frozenset({400, 422})
_PASSING = frozenset({408, 409, 425, 429, 502, 503, 504})
_WINDOW_FIELDS = ("max_model_len", "context_length", "context_window", "max_context_length", "n_ctx")
"""Names under which vLLM, hosted providers and llama.cpp (inside meta) report a model's window."""


@dataclass(frozen=True, slots=True)
class ServerReport:
    """What a chat server says of itself and showed. model: the name under which it serves the model.

    reported_window: tokens, None if it reports none. refuses: parameters of OpenAI's protocol that it refuses.
    """

    model: str
    capabilities: ChatCapabilities
    reported_window: int | None = None
    refuses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Listed:
    """A model in /v1/models. window: tokens, None if the server does not report it. slots: whether it may be that of
    several slots together, as llama.cpp lists it; these slots also share one cache of prompts."""

    name: str
    window: int | None = None
    slots: bool = False


def list_models(settings: RoleSettings, *, timeout_s: float = 30.0) -> list[Listed] | None:
    """Return the models that the server lists, None if it has no list. Raises ModelError.

    model_unavailable: the server does not answer. model_misconfigured: it refuses the key.
    """
    with _client(settings, timeout_s) as client:
        return _list(client, settings)


def served_model(settings: RoleSettings) -> Listed:
    """Return the model of the settings as its server lists it, with the table's window if it lists none.

    Without a name it is the only model that the server lists. Raises ModelError: model_misconfigured, with the name and
    the listed models, if the server does not list it; see list_models().
    """
    with _client(settings, 30.0) as client:
        listed = _chosen(_list(client, settings), settings)
    row = find_model(listed.name)
    return replace(listed, window=listed.window or (row.window if row is not None else None))


def embedding_width(settings: RoleSettings, model: str) -> int:
    """Return the width of a server's vectors, by asking for one. Raises ModelError."""
    with _client(settings, 60.0) as client:
        response = _sent(client, settings, "POST", "/embeddings", {"model": model, "input": ["a"]})
        if response.status_code != httpx.codes.OK:
            raise _failure(settings, model, response)
        try:
            return len(response.json()["data"][0]["embedding"])
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise _misconfigured(f"{settings.url}/embeddings returns no vector for {model}") from error


_reports: dict[tuple[str, str, str], ServerReport] = {}
_probing: dict[tuple[str, str, str], threading.Lock] = {}
_registry = threading.Lock()


def report_of(settings: RoleSettings) -> ServerReport:
    """Return what the chat server of a role does; asked once per process, then remembered. Raises ModelError."""
    key = (settings.url, settings.model, settings.api_key)
    with _registry:
        lock = _probing.setdefault(key, threading.Lock())
    with lock:
        if key not in _reports:
            _reports[key] = probe(settings)
    return _limited(_reports[key], settings.context_tokens)


def _limited(report: ServerReport, limit: int | None) -> ServerReport:
    """Return the report with the configured limit, which is the window itself where nothing else says what it is."""
    if limit is None:
        return report
    found = report.capabilities.context_tokens
    guessed = report.reported_window is None and find_model(report.model) is None
    return replace(
        report, capabilities=replace(report.capabilities, context_tokens=limit if guessed else min(found, limit))
    )


def forget_reports() -> None:
    """Forget all servers, so that each is asked again."""
    with _registry:
        _reports.clear()


def probe(settings: RoleSettings, *, timeout_s: float = _TIMEOUT_S) -> ServerReport:
    """Ask a chat server what it does. Raises ModelError, retryable: model_unavailable or model_misconfigured."""
    with _client(settings, timeout_s) as client:
        listed = _chosen(_list(client, settings), settings)
        row = find_model(listed.name)
        window = _slot_window(client, settings, listed) if listed.slots else listed.window
        asked = _Asked(client, settings, listed.name)
        first = asked.first()
        thinks = _thinks(first) or (row is not None and row.thinks)
        images, video = asked.pictures(row)
        capabilities = ChatCapabilities(
            context_tokens=window or (row.window if row is not None else 0) or DEFAULT_WINDOW,
            images=images,
            video=video,
            schemas=asked.keeps_schemas(thinks),
            samples=len(first["choices"]) > 1,
            log_probabilities=_has_log_probabilities(first),
            thinks=thinks,
            picture_patch=_picture_patch(row, listed.name),
            shares_cache=listed.slots,
        )
        return ServerReport(listed.name, capabilities, window, tuple(sorted(asked.refused)))


# --- the list of models ----------------------------------------------------------------------------------------------


@contextmanager
def _client(settings: RoleSettings, timeout_s: float) -> Iterator[httpx.Client]:
    """Open a client of the role's server. A ModelError inside names the role."""
    headers = {"Authorization": f"Bearer {settings.api_key}"} if settings.api_key else {}
    try:
        with httpx.Client(verify=tls(), headers=headers, timeout=httpx.Timeout(timeout_s, connect=10.0)) as client:
            yield client
    except ModelError as error:
        error.dependency = settings.dependency
        raise


def _list(client: httpx.Client, settings: RoleSettings) -> list[Listed] | None:
    response = _sent(client, settings, "GET", "/models")
    if response.status_code == httpx.codes.NOT_FOUND:
        return None
    if response.status_code in (401, 403):
        raise _misconfigured(f"{settings.url} refuses the key (HTTP {response.status_code})")
    if response.status_code != httpx.codes.OK:
        raise _unavailable(f"{settings.url}/models: HTTP {response.status_code}")
    try:
        rows = response.json()["data"]
        return [
            Listed(name, _window(row), isinstance(row.get("meta"), Mapping)) for row in rows for name in _names(row)
        ]
    except (ValueError, KeyError, TypeError) as error:
        raise _misconfigured(f"{settings.url}/models is no list of models; does the URL end in /v1?") from error


def _names(row: Mapping[str, Any]) -> Iterator[str]:
    names = [str(row["id"]), *(row.get("aliases") or [])]
    # Google's server lists models/NAME and serves NAME.
    yield from dict.fromkeys(str(name).removeprefix("models/") for name in names)


def _window(row: Mapping[str, Any]) -> int | None:
    places = [row, row.get("meta")]
    for place in places:
        for name in _WINDOW_FIELDS:
            tokens = place.get(name) if isinstance(place, Mapping) else None
            if isinstance(tokens, int) and tokens > 0:
                return tokens
    return None


def _chosen(listed: Sequence[Listed] | None, settings: RoleSettings) -> Listed:
    if listed is None:
        if settings.model:
            return Listed(settings.model)
        raise _misconfigured(f"{settings.url} lists no models; name the model that it serves")
    if not settings.model:
        if len({one.name for one in listed}) == 1:
            return listed[0]
        raise _misconfigured(f"{settings.url} lists {_words(listed)}; name the model that is wanted")
    for one in listed:
        if one.name == settings.model:
            return one
    raise _misconfigured(f"{settings.url} does not serve {settings.model!r}; it lists {_words(listed)}")


def _words(listed: Sequence[Listed]) -> str:
    names = [one.name for one in listed]
    return ", ".join(names[:8]) + (" ..." if len(names) > 8 else "") if names else "no model"


def _slot_window(client: httpx.Client, settings: RoleSettings, listed: Listed) -> int | None:
    """Return the window of one slot, which llama.cpp reports at /props; else the listed one."""
    response = _sent(client, replace(settings, url=settings.url.removesuffix("/v1")), "GET", "/props")
    try:
        slot = response.json()["default_generation_settings"]["n_ctx"]
    except (ValueError, KeyError, TypeError):
        return listed.window
    windows = [tokens for tokens in (listed.window, slot) if isinstance(tokens, int) and tokens > 0]
    return min(windows, default=None)


def _picture_patch(row: Model | None, name: str) -> int:
    if row is not None:
        return row.picture_patch
    return 32 if "qwen3-vl" in name.lower() else 28


# --- the tiny requests -----------------------------------------------------------------------------------------------


class _Asked:
    """The requests to one server. refused: the parameters that it refused so far, which are not sent again."""

    def __init__(self, client: httpx.Client, settings: RoleSettings, model: str) -> None:
        self._client, self._settings, self._model = client, settings, model
        self.refused: set[str] = set()

    def first(self) -> Mapping[str, Any]:
        """Ask for two short samples with log-probabilities; without what the server refuses."""
        wanted = {name: dict(fields) for name, fields in _OPTIONAL.items()}
        response = self._short(wanted)
        while response.status_code in _REFUSED and (name := _refused_name(response.text, wanted, self.refused)):
            self.refused.add(name)
            wanted.pop(name, None)
            response = self._short(wanted)
        if response.status_code in _REFUSED and wanted:
            response = self._one_by_one(wanted)
        if response.status_code != httpx.codes.OK:
            raise self._failure(response)
        return _completion(response, self._settings.url)

    def _one_by_one(self, wanted: Mapping[str, Mapping[str, Any]]) -> httpx.Response:
        """Return a reply with every parameter that the server takes, where its error names none."""
        taken: dict[str, Mapping[str, Any]] = {}
        accepted = self._short(taken)
        for name, fields in wanted.items():
            response = self._short({**taken, name: fields})
            if response.status_code == httpx.codes.OK:
                accepted, taken[name] = response, fields
            elif response.status_code in _REFUSED:
                self.refused.add(name)
            else:
                return response
        return accepted

    def _short(self, wanted: Mapping[str, Mapping[str, Any]]) -> httpx.Response:
        fields = {name: value for part in wanted.values() for name, value in part.items()}
        return self._post({**fields, "messages": [{"role": "user", "content": PROBE}]}, _SHORT_TOKENS)

    def keeps_schemas(self, thinks: bool) -> bool:
        wanted = {"name": "probe", "schema": _SCHEMA, "strict": True}
        body: dict[str, Any] = {
            "messages": [{"role": "user", "content": PROBE}],
            "response_format": {"type": "json_schema", "json_schema": wanted},
        }
        silent = {"chat_template_kwargs": {"enable_thinking": False}} if thinks else {}
        if self._answers_in_schema({**body, **silent}, _SCHEMA_TOKENS):
            return True
        return thinks and self._answers_in_schema(body, _THINKING_TOKENS)

    def pictures(self, row: Model | None) -> tuple[bool, bool]:
        """Return whether the server takes pictures, and frames as one video. The table knows its text models."""
        if row is not None and not row.images:
            return False, False
        jpeg = _jpeg()
        picture = {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{jpeg}"}}
        frames = {"type": "video_url", "video_url": {"url": f"data:video/jpeg;base64,{jpeg},{jpeg}"}}
        images = self._takes(picture)
        return images, images and (row is None or row.video) and self._takes(frames)

    def _takes(self, part: Mapping[str, Any]) -> bool:
        content = [part, {"type": "text", "text": PROBE}]
        response = self._post({"messages": [{"role": "user", "content": content}]}, _SHORT_TOKENS)
        return self._optional(response)

    def _answers_in_schema(self, body: Mapping[str, Any], tokens: int) -> bool:
        response = self._post(body, tokens)
        if not self._optional(response):
            return False
        try:
            text = response.json()["choices"][0]["message"]["content"]
            return bool(json.loads(str(text).rpartition("</think>")[2]) == {"found": _SCHEMA_WORD})
        except (ValueError, KeyError, TypeError, IndexError):
            return False

    def _optional(self, response: httpx.Response) -> bool:
        """Return whether the server did it. Raises ModelError if it was only busy."""
        if response.status_code in _PASSING:
            raise self._failure(response)
        return response.status_code == httpx.codes.OK

    def _post(self, body: Mapping[str, Any], tokens: int) -> httpx.Response:
        limit = "max_completion_tokens" if "max_tokens" in self.refused else "max_tokens"
        return _sent(
            self._client, self._settings, "POST", "/chat/completions", {"model": self._model, limit: tokens, **body}
        )

    def _failure(self, response: httpx.Response) -> ModelError:
        return _failure(self._settings, self._model, response)


def _refused_name(text: str, wanted: Collection[str], refused: Collection[str]) -> str | None:
    """Return the parameter that an error text names, None if it names none that was sent."""
    words = set(re.findall(r"[a-z_]+", text.lower()))
    if "max_tokens" in words and "max_tokens" not in refused:
        return "max_tokens"
    named = {"temperature": {"temperature"}, "logprobs": {"logprobs", "top_logprobs"}, "n": {"n", "n_cmpl"}}
    # "n" may be a word of another sentence, so the longer names come first.
    return next((name for name, names in named.items() if name in wanted and words & names), None)


def _completion(response: httpx.Response, url: str) -> Mapping[str, Any]:
    try:
        body = response.json()
        if isinstance(body["choices"], list) and body["choices"] and isinstance(body["choices"][0]["message"], Mapping):
            return dict(body)
    except (ValueError, KeyError, TypeError, IndexError):
        pass
    raise _misconfigured(f"{url}/chat/completions returns no chat completion; is it a chat model's server?")


def _thinks(body: Mapping[str, Any]) -> bool:
    message = body["choices"][0]["message"]
    usage = body.get("usage")
    details = usage.get("completion_tokens_details") if isinstance(usage, Mapping) else None
    hidden = details.get("reasoning_tokens") if isinstance(details, Mapping) else 0
    written = message.get("reasoning_content") or message.get("reasoning")
    return bool(written or hidden) or str(message.get("content") or "").lstrip().startswith("<think>")


def _has_log_probabilities(body: Mapping[str, Any]) -> bool:
    found = body["choices"][0].get("logprobs")
    content = found.get("content") if isinstance(found, Mapping) else None
    return bool(isinstance(content, list) and content and content[0].get("top_logprobs"))


def _jpeg() -> str:
    file = BytesIO()
    PILImage.new("RGB", (64, 64), (200, 60, 60)).save(file, "JPEG")
    return base64.b64encode(file.getvalue()).decode()


def _sent(
    client: httpx.Client, settings: RoleSettings, method: str, path: str, body: Mapping[str, Any] | None = None
) -> httpx.Response:
    try:
        return client.request(method, settings.url + path, json=body)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise _unavailable(f"{settings.url}{path}: {type(error).__name__}: {error}") from error


def _failure(settings: RoleSettings, model: str, response: httpx.Response) -> ModelError:
    where = f"{settings.url}: {model}: HTTP {response.status_code}"
    if response.status_code in _PASSING or response.status_code >= 500:
        return _unavailable(where)
    return _misconfigured(f"{where}: {response.text[:300]}")


def _unavailable(message: str) -> ModelError:
    return ModelError("model_unavailable", message, retryable=True)


def _misconfigured(message: str) -> ModelError:
    return ModelError("model_misconfigured", message, retryable=True)
