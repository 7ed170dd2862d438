"""``python make_speech_model.py CTRANSLATE2-FOLDER FOLDER`` writes Whisper base as transformers and vLLM read it.

Runs in vLLM's environment, never in the project's. The weights are those of the worker's own transcriber, which the
package index has in the format of CTranslate2 only; this is the reverse of CTranslate2's converter.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO

import numpy as np
import torch
from transformers import (
    AddedToken,
    GenerationConfig,
    WhisperConfig,
    WhisperFeatureExtractor,
    WhisperForConditionalGeneration,
    WhisperProcessor,
    WhisperTokenizer,
)

_HALF = 4
"""CTranslate2's number for a tensor of 16-bit floats."""
_END = 50_257
"""Token that ends a text in the vocabulary of the models for many languages."""


def variables(path: Path) -> Mapping[str, torch.Tensor]:
    """Return the 16-bit tensors of a CTranslate2 model file (version 6) by name."""
    with path.open("rb") as file:
        file.seek(struct.calcsize("<I"))
        _text(file)
        _number(file, "<I")
        found = {}
        for _ in range(_number(file, "<I")):
            name = _text(file)
            shape = [_number(file, "<I") for _ in range(_number(file, "<B"))]
            kind = _number(file, "<B")
            content = file.read(_number(file, "<I"))
            if kind == _HALF:
                found[name] = torch.from_numpy(np.frombuffer(content, dtype=np.float16).reshape(shape).copy())
        return found


def state(given: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return the tensors under the names of transformers. Fused projections are taken apart."""
    found = {"model.decoder.embed_tokens.weight": given["decoder/embeddings/weight"]}
    for side in ("encoder", "decoder"):
        found[f"model.{side}.embed_positions.weight"] = given[f"{side}/position_encodings/encodings"]
        _norm(found, f"model.{side}.layer_norm", given, f"{side}/layer_norm")
    for name in ("conv1", "conv2"):
        for part in ("weight", "bias"):
            found[f"model.encoder.{name}.{part}"] = given[f"encoder/{name}/{part}"]
    for side, number in [(side, number) for side in ("encoder", "decoder") for number in range(layers_of(given))]:
        old, new = f"{side}/layer_{number}", f"model.{side}.layers.{number}"
        _norm(found, f"{new}.self_attn_layer_norm", given, f"{old}/self_attention/layer_norm")
        _projections(found, f"{new}.self_attn", given, f"{old}/self_attention", [("q", "k", "v"), ("out",)])
        if side == "decoder":
            _norm(found, f"{new}.encoder_attn_layer_norm", given, f"{old}/attention/layer_norm")
            _projections(found, f"{new}.encoder_attn", given, f"{old}/attention", [("q",), ("k", "v"), ("out",)])
        _norm(found, f"{new}.final_layer_norm", given, f"{old}/ffn/layer_norm")
        for part in ("weight", "bias"):
            found[f"{new}.fc1.{part}"] = given[f"{old}/ffn/linear_0/{part}"]
            found[f"{new}.fc2.{part}"] = given[f"{old}/ffn/linear_1/{part}"]
    return found


def layers_of(given: Mapping[str, torch.Tensor]) -> int:
    """Return the number of layers of the encoder, and of the decoder."""
    return sum(name.startswith("encoder/layer_") and name.endswith("ffn/linear_0/bias") for name in given)


def _norm(found: dict[str, torch.Tensor], new: str, given: Mapping[str, torch.Tensor], old: str) -> None:
    found[f"{new}.weight"], found[f"{new}.bias"] = given[f"{old}/gamma"], given[f"{old}/beta"]


def _projections(
    found: dict[str, torch.Tensor], new: str, given: Mapping[str, torch.Tensor], old: str, fused: list[tuple[str, ...]]
) -> None:
    """Take apart the linear layers of an attention; fused: the projections in each of them. The keys have no bias."""
    for number, names in enumerate(fused):
        for part in ("weight", "bias"):
            for name, rows in zip(names, given[f"{old}/linear_{number}/{part}"].chunk(len(names)), strict=True):
                if (name, part) != ("k", "bias"):
                    found[f"{new}.{name}_proj.{part}"] = rows.clone()


def _number(file: IO[bytes], kind: str) -> int:
    return int(struct.unpack(kind, file.read(struct.calcsize(kind)))[0])


def _text(file: IO[bytes]) -> str:
    return file.read(_number(file, "<H"))[:-1].decode()


def main(source: Path, folder: Path) -> None:
    """Write the model, its tokenizer and its processor."""
    given = variables(source / "model.bin")
    width = given["decoder/embeddings/weight"].shape[1]
    heads = width // 64
    layers = layers_of(given)
    config = WhisperConfig(
        vocab_size=given["decoder/embeddings/weight"].shape[0],
        d_model=width,
        num_mel_bins=given["encoder/conv1/weight"].shape[1],
        encoder_layers=layers,
        decoder_layers=layers,
        encoder_attention_heads=heads,
        decoder_attention_heads=heads,
        encoder_ffn_dim=4 * width,
        decoder_ffn_dim=4 * width,
        bos_token_id=_END,
        eos_token_id=_END,
        pad_token_id=_END,
        decoder_start_token_id=_END + 1,
        dtype="bfloat16",
    )
    model = WhisperForConditionalGeneration(config)
    missing, unexpected = model.load_state_dict(state(given), strict=False)
    assert not set(missing) - {"proj_out.weight"}, missing
    assert not unexpected, unexpected
    model.tie_weights()
    model.bfloat16().save_pretrained(folder)
    tokenizer = WhisperTokenizer(tokenizer_file=str(source / "tokenizer.json"))
    # CTranslate2 computes the tokens of times, which follow the others; vLLM looks them up.
    tokenizer.add_tokens([AddedToken(f"<|{0.02 * n:.2f}|>", special=False, normalized=False) for n in range(1501)])
    GenerationConfig.from_model_config(config).save_pretrained(folder)
    sound = WhisperFeatureExtractor(feature_size=config.num_mel_bins)  # type: ignore[no-untyped-call]
    WhisperProcessor(sound, tokenizer).save_pretrained(folder)  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
