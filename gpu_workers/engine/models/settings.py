"""The settings that choose the models: a preset's defaults, and a URL, a name and a key for each role.

Three choices are independent: eyes (DESCRIBER_URL, or the observer), the reasoner (REASONER_URL) and the embedders
(TEXT_EMBEDDER_URL and FRAME_EMBEDDER_URL, or in process). A preset supplies defaults only; variables win.
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from gpu_workers.engine.models.model_table import ROLES, Preset, preset

DEPENDENCY_OF = {
    "text_embedder": "embedder:text",
    "frame_embedder": "embedder:frame",
    "token_embedder": "embedder:token",
}
"""Name of a role's server in errors, where it is not the role's own."""
DEVICES = ("auto", "cpu", "cuda")


MINILM = "all-minilm-l6-v2"
E5 = "multilingual-e5-small"
CONSE = "conse"
"""Built-in embedders that need no server: of texts in English and in many languages, and of frames."""
SSD = "ssd-mobilenet-v2"
"""Detector of the presets without a GPU."""


@dataclass(frozen=True, slots=True)
class RoleSettings:
    """The server of one role. url: base URL of an OpenAI-compatible server, with /v1; "" for none.

    model: the name under which it serves the model; "" for the only model that it lists. context_tokens: upper limit
    of the window that the server reports, None for no limit. dependency: see roles.ModelError; roles that one client
    serves share the first one's.
    """

    url: str = ""
    model: str = ""
    api_key: str = field(default="", repr=False)
    context_tokens: int | None = None
    dependency: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Locations of the models.

    describer_images: maximum number of pictures per request, None for what the table or the server allows.
    concurrency: maximum number of requests in flight per server. similarity, detector: a name of the table or a folder,
    and so is the transcriber's model if it has no server. similarity: used if the token embedder has no server.
    detector: "" for the preset's on a GPU, and SSD on a CPU. detector_fps, detector_batch: see model_table.Preset.
    device: device of in-process models; "auto" is the GPU where torch sees one. threads: of each model without a GPU.
    tracks: whether a detector and a tracker run next to a VLM. own_hosts: see is_own().
    """

    preset: str = "embedded"
    describer: RoleSettings = RoleSettings()
    checker: RoleSettings = RoleSettings()
    reasoner: RoleSettings = RoleSettings()
    text_embedder: RoleSettings = RoleSettings()
    frame_embedder: RoleSettings = RoleSettings()
    token_embedder: RoleSettings = RoleSettings()
    reranker: RoleSettings = RoleSettings()
    entailer: RoleSettings = RoleSettings()
    transcriber: RoleSettings = RoleSettings()
    describer_images: int | None = None
    concurrency: int = 64
    timeout_s: float = 300.0
    similarity: str = MINILM
    detector: str = ""
    detector_fps: float = 5.0
    detector_batch: int = 1
    device: str = "auto"
    threads: int = 1
    tracks: bool = True
    own_hosts: frozenset[str] = frozenset()

    @classmethod
    def from_env(cls, env: Mapping[str, str] | None = None) -> ModelSettings:
        """Read the settings from the environment. Raises ValueError, naming the variable, for an invalid value."""
        env = os.environ if env is None else env
        chosen = preset(env.get("MODEL_PRESET") or "embedded")
        roles = {role: _role(env, role, chosen) for role in ROLES if role != "checker"}
        return cls(
            preset=chosen.name,
            **roles,
            checker=_checker(env, roles["describer"], chosen),
            describer_images=_positive(env, "DESCRIBER_IMAGES"),
            concurrency=_positive(env, "MODEL_CONCURRENCY") or 64,
            timeout_s=float(_positive(env, "MODEL_TIMEOUT_S") or 300),
            similarity=env.get("SIMILARITY_MODEL") or chosen.in_process["similarity"],
            detector=env.get("DETECTOR_MODEL", ""),
            detector_fps=float(_positive(env, "DETECTOR_FPS") or chosen.detector_fps),
            detector_batch=_positive(env, "DETECTOR_BATCH") or chosen.detector_batch,
            device=_device(env),
            threads=_positive(env, "AVA_MODEL_THREADS") or 1,
            tracks=_on(env, "AVA_TRACKS"),
            own_hosts=frozenset(host.strip().lower() for host in env.get("OWN_MODEL_HOSTS", "").split(",")) - {""},
        )

    def role(self, name: str) -> RoleSettings:
        """Return the settings of a role of model_table.ROLES."""
        found = getattr(self, name)
        assert isinstance(found, RoleSettings)
        return found

    def is_own(self, role: RoleSettings) -> bool:
        """Whether a role's server is the operator's, so that its calls cost device time and not a provider's tokens.

        It is if it lies on a private network, or if the operator names its host as his own.
        """
        return on_private_network(role.url) or self.is_declared_own(role)

    def is_declared_own(self, role: RoleSettings) -> bool:
        """Whether the operator names the host of a role's server as his own."""
        return (urlsplit(role.url).hostname or "") in self.own_hosts


def on_private_network(url: str) -> bool:
    """Whether a URL names a machine of this network: a private address, a single label, or a name kept for such use."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        internal = host.startswith("internal-") and host.endswith(".elb.amazonaws.com")
        return internal or "." not in host or host.endswith((".localhost", ".local", ".internal", ".lan"))


def _role(env: Mapping[str, str], role: str, chosen: Preset) -> RoleSettings:
    name = role.upper()
    url = _url(env, f"{name}_URL")
    # Without a server, the preset's model in process is another one.
    served = "" if role == "transcriber" and not url else chosen.served_model(role)
    return RoleSettings(
        url=url,
        model=env.get(f"{name}_MODEL") or served,
        api_key=env.get(f"{name}_API_KEY") or env.get("MODEL_API_KEY", ""),
        context_tokens=_positive(env, f"{name}_CONTEXT_TOKENS") if role in ("describer", "reasoner") else None,
        dependency=DEPENDENCY_OF.get(role, role),
    )


def _checker(env: Mapping[str, str], describer: RoleSettings, chosen: Preset) -> RoleSettings:
    """Return the checker: a server of its own, or the describer's, possibly with another model on it."""
    url = _url(env, "CHECKER_URL")
    model, key = env.get("CHECKER_MODEL", ""), env.get("CHECKER_API_KEY", "")
    window = _positive(env, "CHECKER_CONTEXT_TOKENS")
    if url:
        # The describer's key belongs to another server.
        named = model or chosen.served_model("checker")
        return RoleSettings(url, named, key or env.get("MODEL_API_KEY", ""), window, "checker")
    window = window or describer.context_tokens
    return RoleSettings(describer.url, model or describer.model, key or describer.api_key, window, describer.dependency)


def _url(env: Mapping[str, str], name: str) -> str:
    url = env.get(name, "").rstrip("/")
    if url and not url.startswith(("http://", "https://")):
        raise ValueError(f"{name} is a URL that begins with http:// or https://, got {url!r}")
    return url


def _positive(env: Mapping[str, str], name: str) -> int | None:
    text = env.get(name)
    if not text:
        return None
    if not text.isdigit() or int(text) < 1:
        raise ValueError(f"{name} is a whole number above 0, got {text!r}")
    return int(text)


def _on(env: Mapping[str, str], name: str) -> bool:
    text = env.get(name) or "on"
    if text not in ("on", "off"):
        raise ValueError(f"{name} is on or off, got {text!r}")
    return text == "on"


def _device(env: Mapping[str, str]) -> str:
    device = env.get("MODEL_DEVICE") or "auto"
    if device.partition(":")[0] not in DEVICES:
        raise ValueError(f"MODEL_DEVICE is auto, cpu, cuda or cuda:N, got {device!r}")
    return device
