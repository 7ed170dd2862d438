"""The weights of a model server, fetched before it starts: `vllm_server --server NAME --fetch`.

One line a file says how far it is. What is there already is not fetched again, so a broken fetch goes on where it
ended. The servers read the same cache (HF_HOME). HF_ENDPOINT names a mirror of the Hugging Face hub.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch

from httpx2 import HTTPError
from huggingface_hub import HfApi, hf_hub_download

_OTHER_FORMATS = (
    "onnx/*",
    "openvino/*",
    "original/*",
    "imgs/*",
    "*.onnx*",
    "*.msgpack",
    "*.h5",
    "*.ot",
    "*.gguf",
    "*.md",
)
"""Files that vLLM does not read: weights for other programs, and pages."""
_TORCH_FORMATS = ("*.bin", "*.pt", "*.pth")
"""Weights that vLLM reads only where there are no safetensors."""
_GIB = 2**30


@dataclass(frozen=True, slots=True)
class HubFile:
    """A file of a model. size: in bytes."""

    name: str
    size: int


def wanted(files: Sequence[HubFile]) -> list[HubFile]:
    """Return the files of a model that vLLM reads, small ones first."""
    left_out = [*_OTHER_FORMATS]
    if any(each.name.endswith(".safetensors") for each in files):
        left_out += _TORCH_FORMATS
    kept = [each for each in files if not any(fnmatch(each.name, pattern) for pattern in left_out)]
    return sorted(kept, key=lambda each: (each.size, each.name))


def fetch(server: str, model: str, revision: str) -> None:
    """Fetch a model into the cache of the hub, with a line for each file. Raises OSError."""
    try:
        siblings = HfApi().model_info(model, revision=revision or None, files_metadata=True).siblings or []
        files = wanted([HubFile(each.rfilename, each.size or 0) for each in siblings])
        whole, done = sum(each.size for each in files), 0
        for number, each in enumerate(files, 1):
            before = f"{done / _GIB:.1f} of {whole / _GIB:.1f} GiB"
            now = f"file {number} of {len(files)}: {each.name} ({each.size / _GIB:.1f} GiB)"
            print(f"{server}: {before}, {now}", flush=True)
            hf_hub_download(model, each.name, revision=revision or None)
            done += each.size
    except HTTPError as error:
        raise OSError(str(error)) from error
    print(f"{server}: {model} is complete, {whole / _GIB:.1f} GiB", flush=True)
