"""Start vLLM's OpenAI-compatible server as the table of models (models.json) and the environment say.

python -m gpu_workers.engine.models.served.vllm_server --server vlm            one server of MODEL_PRESET
python -m gpu_workers.engine.models.served.vllm_server --server vlm --print    its command line
python -m gpu_workers.engine.models.served.vllm_server --server vlm --check    exit status 0 if its model answers
python -m gpu_workers.engine.models.served.vllm_server --server vlm --fetch    fetch its weights, with a line per file

Flags win over MODEL_SERVER_* variables, which win over the table. MODEL_API_KEY is the key that clients must send.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import os
import shlex
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
import wave
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from gpu_workers.engine.models.model_table import FRAMES_PER_VIDEO, Preset, Server, find_model, preset

_GENERATE, _TRANSCRIBE = "generate", "transcribe"
_EMBED, _TOKENS, _CLASSIFY = "embed", "token_embed", "classify"
_GUARD = "gpu_workers.engine.models.served.vllm_guard.KeyGuard"
_ROOT = Path(__file__).resolve().parents[4]
_CHECK_PRIORITY = -1_000


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """How one server is started.

    task: as in model_table.Server. ranks: whether it scores pairs, as a reranker does. architecture: of the table's
    model. model: a hub id or a folder. name: what clients call it.
    revision: commit of the hub, "" for a folder. cards: indices of the visible cards that it takes, () for all of them.
    memory_share: of each card. sequences: requests that it runs at once. images, videos: maximum in one request.
    cpu: for a CPU build of vLLM, whose memory is set by VLLM_CPU_KVCACHE_SPACE (GiB); nothing is compiled.
    batched_tokens: of all requests in one step. picture_pixels: of the largest picture and frame of a video, 0 for
    the model's own limit; vLLM keeps memory free for one picture or video of the largest size.
    compact_json: no blanks between the parts of structured outputs; a tiny model can fill its answer with them.
    """

    task: str
    ranks: bool
    architecture: str
    model: str
    name: str
    revision: str
    host: str
    port: int
    context_tokens: int
    tensor_parallel: int
    cards: tuple[int, ...]
    memory_share: float
    sequences: int
    images: int
    videos: int
    batched_tokens: int
    picture_pixels: int
    cpu: bool = False
    compact_json: bool = False


def settings_of(server: str, options: Mapping[str, Any], env: Mapping[str, str]) -> ServerSettings:
    """Return the settings of a server of MODEL_PRESET.

    options: values of flags, None where a flag was not given. Raises ValueError, naming the variable or flag.
    """
    chosen = preset(env.get("MODEL_PRESET") or "embedded")
    if server not in chosen.servers:
        named = ", ".join(chosen.servers) or "none"
        raise ValueError(f"MODEL_PRESET {chosen.name} has no server {server!r}; its servers: {named}")
    row = chosen.servers[server]

    def given(name: str, default: Any) -> Any:
        """Return the flag, else the variable, else the table's value, as the type of the latter."""
        if options.get(name) is not None:
            return options[name]
        text = env.get(f"MODEL_SERVER_{name.upper()}")
        return _number(f"MODEL_SERVER_{name.upper()}", text, type(default)) if text else default

    model = given("model", row.model)
    folder = Path(model).is_dir()
    known = find_model(row.model)
    revision = given("revision", known.revision if known and model == row.model else "")
    share = given("memory_share", row.memory_share)
    if not 0 < share <= 1:
        raise ValueError(f"MODEL_SERVER_MEMORY_SHARE is above 0 and at most 1, got {share}")
    cpu = bool(options.get("cpu")) or _is_cpu_build()
    visible = 1 if cpu else visible_cards(env)
    parallel = given("tensor_parallel", min(visible or row.tensor_parallel, row.tensor_parallel))
    if visible is not None and parallel > visible:
        raise ValueError(f"MODEL_SERVER_TENSOR_PARALLEL is {parallel}, but {visible} cards are visible")
    context, batched = given("context_tokens", row.context_tokens), given("batched_tokens", row.batched_tokens)
    return ServerSettings(
        task=row.task,
        ranks=chosen.roles.get("reranker") == server,
        architecture=known.architecture if known else "",
        model=model,
        # A folder holds the table's model; another hub id is another model, which clients call by its own name.
        name=given("name", row.model if folder else model),
        revision="" if folder else revision,
        host=given("host", "0.0.0.0"),  # noqa: S104 - workers call it from other machines and containers
        port=given("port", 8000),
        context_tokens=context,
        tensor_parallel=parallel,
        cards=_cards(chosen, row, visible, env),
        memory_share=share,
        sequences=given("sequences", row.sequences),
        images=given("images", row.images),
        videos=given("videos", int(row.video)),
        # A model that makes vectors reads its input in one step.
        batched_tokens=batched if row.task in {_GENERATE, _TRANSCRIBE} else max(batched, context),
        picture_pixels=given("picture_pixels", row.picture_pixels),
        cpu=cpu,
        compact_json=bool(options.get("compact_json")),
    )


def server_argv(settings: ServerSettings) -> list[str]:
    """Return the command line of the server. It holds no key: vLLM reads VLLM_API_KEY."""
    argv = [sys.executable, "-m", "vllm.entrypoints.openai.api_server"]
    argv += ["--model", settings.model, "--served-model-name", settings.name]
    argv += ["--host", settings.host, "--port", str(settings.port), "--max-model-len", str(settings.context_tokens)]
    if settings.revision:
        argv += ["--revision", settings.revision, "--tokenizer-revision", settings.revision]
    argv += ["--enforce-eager"] if settings.cpu else ["--gpu-memory-utilization", f"{settings.memory_share:g}"]
    argv += ["--tensor-parallel-size", str(settings.tensor_parallel), "--max-num-seqs", str(settings.sequences)]
    argv += ["--max-num-batched-tokens", str(settings.batched_tokens)]
    # The check's request goes before all others, so that a busy server is not taken for a dead one.
    argv += ["--scheduling-policy", "priority"]
    # vLLM asks for its key below /v1 only; /pooling, /classify, /tokenize, /invocations and others would be open.
    argv += ["--middleware", _GUARD, "--disable-fastapi-docs"]
    if settings.task == _GENERATE:
        # Samples of one question share their prompt; chunks share their instructions.
        argv += ["--enable-prefix-caching", "--enable-prompt-tokens-details"]
        # Structured outputs use xgrammar, or another back end for schemas that it lacks; only a named back end can be
        # compact.
        compact = {"backend": "xgrammar", "disable_any_whitespace": True}
        argv += ["--structured-outputs-config", json.dumps(compact if settings.compact_json else {"backend": "auto"})]
    elif settings.task != _TRANSCRIBE:
        argv += ["--runner", "pooling", "--pooler-config", json.dumps({"task": settings.task})]
    if settings.architecture == "XLMRobertaModel":
        # vLLM 0.32 reads this field, and transformers 5 has it only if the model's own file does.
        argv += ["--hf-overrides", json.dumps({"position_embedding_type": "absolute"})]
    if settings.images or settings.videos:
        # Pictures come inside a request. Without a list of hosts, vLLM fetches any address that a request names.
        argv += ["--allowed-media-domains", "none.invalid"]
        argv += ["--limit-mm-per-prompt", json.dumps({"image": settings.images, "video": settings.videos})]
    if settings.picture_pixels and settings.task == _GENERATE:
        # Without a limit, memory for a picture of 16,384 tokens is kept free, which no request here has.
        limits = {"images_kwargs": {"max_pixels": settings.picture_pixels}}
        if settings.videos:
            limits["videos_kwargs"] = {"max_pixels": FRAMES_PER_VIDEO * settings.picture_pixels}
        argv += ["--mm-processor-kwargs", json.dumps(limits)]
    if settings.videos:
        # vLLM would keep the first 32 frames of a video that comes as pictures, and drop the others without a word.
        argv += ["--media-io-kwargs", json.dumps({"video": {"num_frames": -1}})]
        # A request says when its frames were taken. vLLM takes that from clients with a key of the operator's only.
        argv += ["--trust-request-mm-kwargs"]
    return argv


def server_env(settings: ServerSettings, key: str, env: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of the server: its key, its cards, and where Python finds the guard."""
    paths = [str(_ROOT), *filter(None, [env.get("PYTHONPATH")])]
    added = {"PYTHONPATH": os.pathsep.join(paths), "VLLM_API_KEY": key}
    if settings.cards:
        added["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, settings.cards))
    return {**env, **added}


def visible_cards(env: Mapping[str, str]) -> int | None:
    """Return the number of visible GPUs, None if nothing says it."""
    for name in ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"):
        listed = env.get(name)
        if listed and listed not in {"all", "void", "none"}:
            return len(listed.split(","))
    program = shutil.which("nvidia-smi", path=env.get("PATH"))
    if program is None:
        return None
    try:
        listing = subprocess.run([program, "-L"], capture_output=True, text=True, timeout=30, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    return sum(line.startswith("GPU ") for line in listing.splitlines()) or None


def answers(settings: ServerSettings, key: str, *, timeout_s: float) -> str:
    """Ask the server on this machine for one token, vector or score. Returns "", or why there is none."""
    asked: dict[str, tuple[str, dict[str, Any]]] = {
        _GENERATE: (
            "/v1/chat/completions",
            {"messages": [{"role": "user", "content": "Say yes."}], "max_tokens": 1, "temperature": 0},
        ),
        _EMBED: ("/v1/embeddings", {"input": ["yes"]}),
        _TOKENS: ("/pooling", {"input": ["yes"], "task": _TOKENS}),
        _CLASSIFY: ("/v1/rerank", {"query": "yes", "documents": ["yes"]})
        if settings.ranks
        else ("/classify", {"input": ["yes"]}),
        _TRANSCRIBE: (
            "/v1/audio/transcriptions",
            {"response_format": "json", "language": "en", "temperature": 0, "max_completion_tokens": 1},
        ),
    }
    path, body = asked[settings.task]
    whole = {"model": settings.name, "priority": _CHECK_PRIORITY, **body}
    kind, content = "application/json", json.dumps(whole).encode()
    if settings.task == _TRANSCRIBE:
        kind, content = _form(whole)
    host = "127.0.0.1" if settings.host in {"0.0.0.0", "::", ""} else settings.host  # noqa: S104 - compared only
    request = urllib.request.Request(
        f"http://{host}:{settings.port}{path}",
        data=content,
        headers={"Content-Type": kind, **({"Authorization": f"Bearer {key}"} if key else {})},
    )
    try:
        # A proxy of the environment is for downloads, not for this machine.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=timeout_s) as answer:
            reply = json.load(answer)
    except urllib.error.HTTPError as error:
        return f"{request.full_url}: HTTP {error.code} for {settings.name}"
    except (OSError, ValueError) as error:
        return f"{request.full_url}: {error}"
    found = isinstance(reply, dict) and (
        reply.get("choices") or reply.get("data") or reply.get("results") or "text" in reply
    )
    return "" if found else f"{request.full_url}: an empty reply"


def _form(fields: Mapping[str, Any]) -> tuple[str, bytes]:
    """Return the media type and the content of a form with these fields and a second of silence as its file."""
    sound = BytesIO()
    with wave.open(sound, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        file.writeframes(bytes(32_000))
    limit = "--ava-check"
    parts = [
        f'--{limit}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in fields.items()
    ]
    head = f'--{limit}\r\nContent-Disposition: form-data; name="file"; filename="check.wav"\r\n\r\n'.encode()
    parts += [head, sound.getvalue(), f"\r\n--{limit}--\r\n".encode()]
    return f"multipart/form-data; boundary={limit}", b"".join(parts)


def main(arguments: Sequence[str] | None = None) -> int:
    """Replace this process by the server, print its command line, or check the running server."""
    parser = argparse.ArgumentParser(
        prog="python -m gpu_workers.engine.models.served.vllm_server", description=main.__doc__
    )
    parser.add_argument("--server", required=True, help="a server of MODEL_PRESET, such as vlm or text-embedder")
    parser.add_argument("--model", help="a hub id or a folder")
    parser.add_argument("--name", help="what clients call the model; by default its name in the table")
    parser.add_argument("--revision", help="commit of the hub")
    parser.add_argument("--host", help="address to listen on; by default all of this machine")
    parser.add_argument("--port", type=int)
    parser.add_argument("--context-tokens", type=int)
    parser.add_argument("--tensor-parallel", type=int, help="by default the visible cards, at most the table's number")
    parser.add_argument("--memory-share", type=float, help="share of each card's memory, above 0 and at most 1")
    parser.add_argument("--sequences", type=int, help="requests that it runs at once")
    parser.add_argument("--images", type=int, help="maximum number of pictures in one request")
    parser.add_argument("--batched-tokens", type=int, help="tokens of all requests in one step")
    parser.add_argument("--picture-pixels", type=int, help="largest picture; 0 for the model's own limit")
    parser.add_argument("--videos", type=int, help="maximum number of videos in one request")
    parser.add_argument("--cpu", action="store_true", help="for a CPU build of vLLM; recognised without the flag")
    parser.add_argument("--compact-json", action="store_true", help="structured outputs without blanks between parts")
    parser.add_argument("--no-key", action="store_true", help="serve everybody who reaches the port")
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--print", action="store_true", dest="show", help="print the command line and exit")
    action.add_argument("--check", action="store_true", help="ask the running server's model for one token and exit")
    action.add_argument("--fetch", action="store_true", help="fetch the model's weights and exit")
    parser.add_argument("--timeout-s", type=float, default=25.0, help="of the check")
    options = vars(parser.parse_args(arguments))
    try:
        settings = settings_of(options["server"], options, os.environ)
    except ValueError as error:
        parser.error(str(error))
    key = os.environ.get("MODEL_API_KEY") or os.environ.get("VLLM_API_KEY") or ""
    if options["check"]:
        failure = answers(settings, key, timeout_s=options["timeout_s"])
        if failure:
            print(failure, file=sys.stderr)
        return 1 if failure else 0
    if options["fetch"]:
        return _fetch(options["server"], settings)
    argv = server_argv(settings)
    if options["show"]:
        print(shlex.join(argv))
        return 0
    if not key and not options["no_key"]:
        parser.error("MODEL_API_KEY is not set: clients must send it; --no-key serves everybody who reaches the port")
    if importlib.util.find_spec("vllm") is None:
        print("vLLM is not installed here; infra/images/vllm.Dockerfile makes an image that has it", file=sys.stderr)
        return 1
    env = server_env(settings, "" if options["no_key"] else key, os.environ)
    os.execve(argv[0], argv, env)  # noqa: S606 - the argv is built above from parsed options, without a shell


def _fetch(server: str, settings: ServerSettings) -> int:
    """Fetch the weights that a server reads, and return the exit status."""
    # The hub's library is in the image of the servers, and in none of the workers that only read settings.
    from gpu_workers.engine.models.served import prefetch

    if Path(settings.model).is_dir():
        print(f"{server}: {settings.model} is a folder; nothing is fetched")
        return 0
    try:
        prefetch.fetch(server, settings.model, settings.revision)
    except OSError as error:
        print(f"{server}: {settings.model} cannot be fetched: {error}", file=sys.stderr)
        return 1
    return 0


def _cards(chosen: Preset, row: Server, visible: int | None, env: Mapping[str, str]) -> tuple[int, ...]:
    """Return the table's cards if all cards of the preset are visible; a container sees only its own cards."""
    restricted = env.get("CUDA_VISIBLE_DEVICES") or env.get("NVIDIA_VISIBLE_DEVICES", "all") != "all"
    return () if restricted or visible is None or visible < max(2, len(chosen.gpu_gib)) else tuple(row.gpus)


def _number(name: str, text: str, kind: type) -> Any:
    if kind is str:
        return text
    try:
        number = kind(text)
    except ValueError:
        number = -1
    if number < 0:
        raise ValueError(f"{name} is a number, got {text!r}")
    return number


def _is_cpu_build() -> bool:
    try:
        importlib.metadata.distribution("vllm-cpu")
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
