"""``python make_eight_bit_model.py WEIGHTS.gguf FOLDER`` writes a GGUF file's model with weights of 8 bits, for vLLM.

On a CPU vLLM multiplies 8-bit weights with 8-bit activations, which is about twice as fast as llama.cpp with 4 bits.
A row of weights has one scale, and so has each token's activation (compressed-tensors, W8A8). Before rounding, large
channels of the activations are moved into the weights (SmoothQuant, Xiao et al., ICML 2023); how large they are is
measured on the engine's own prompts. Embeddings and the last layer keep 16 bits.

Runs in vLLM's environment, never in the project's.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from transformers import AutoModelForCausalLM, AutoTokenizer

PROMPTS = Path(__file__).resolve().parents[2] / "gpu_workers" / "engine" / "prompts"
MEASURED = 8
"""Number of prompts that are read, the longest ones."""
TOKENS = 700
LARGEST, SMALLEST = 127, 1e-5
LAST_LAYER = "lm_head"
_EIGHT_BITS = {"num_bits": 8, "type": "int", "symmetric": True}


def make(gguf: Path, folder: Path) -> None:
    """Write the model in gguf with its tokenizer and chat template."""
    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    model = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.float32)
    model.eval()  # type: ignore[no-untyped-call]
    longest = sorted((path.read_text() for path in PROMPTS.rglob("*.txt")), key=len)[-MEASURED:]
    with torch.no_grad():
        smooth(model, largest_inputs(model, [tokenizer(text, return_tensors="pt").input_ids for text in longest]))
        tensors = eight_bit_tensors(model)
    folder.mkdir(parents=True)
    save_file(tensors, str(folder / "model.safetensors"), metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(config_of(model.config.to_dict()), indent=1))
    tokenizer.save_pretrained(folder)


def linear_layers(model: nn.Module) -> dict[str, nn.Linear]:
    """Return the layers that get 8 bits, by name."""
    return {name: layer for name, layer in model.named_modules() if isinstance(layer, nn.Linear) and name != LAST_LAYER}


def largest_inputs(model: nn.Module, prompts: Sequence[Tensor]) -> dict[str, Tensor]:
    """Return the largest absolute input of each channel of each layer, shape (inputs,). prompts: token ids, (1, n)."""
    largest: dict[str, Tensor] = {}

    def record(name: str) -> Any:
        def seen(_layer: nn.Module, inputs: tuple[Tensor, ...], _output: Tensor) -> None:
            channels = inputs[0].abs().reshape(-1, inputs[0].shape[-1]).amax(0)
            largest[name] = torch.maximum(largest[name], channels) if name in largest else channels

        return seen

    hooks = [layer.register_forward_hook(record(name)) for name, layer in linear_layers(model).items()]
    for ids in prompts:
        model(ids[:, :TOKENS])
    for hook in hooks:
        hook.remove()
    return largest


def smooth(model: Any, largest: Mapping[str, Tensor]) -> None:
    """Divide large channels of each layer's input, and multiply the weights that read them, in place.

    The division is done by the norm before the layers, or by the rows of the layer before (up_proj for down_proj). The
    input of o_proj stays as it is: several heads read one row of v_proj.
    """
    for n, block in enumerate(model.model.layers):
        name, heads, mlp = f"model.layers.{n}", block.self_attn, block.mlp
        read = [heads.q_proj, heads.k_proj, heads.v_proj]
        scale = smoothing(largest[f"{name}.self_attn.q_proj"], read)
        block.input_layernorm.weight /= scale
        _multiply(read, scale)
        read = [mlp.gate_proj, mlp.up_proj]
        scale = smoothing(largest[f"{name}.mlp.up_proj"], read)
        block.post_attention_layernorm.weight /= scale
        _multiply(read, scale)
        scale = smoothing(largest[f"{name}.mlp.down_proj"], [mlp.down_proj])
        mlp.up_proj.weight /= scale[:, None]
        _multiply([mlp.down_proj], scale)


def smoothing(largest: Tensor, layers: Sequence[nn.Linear]) -> Tensor:
    """Return the divisor of each channel: half of the difficulty goes to the weights. Shapes (inputs,)."""
    weights = torch.stack([layer.weight.abs().amax(0) for layer in layers]).amax(0)
    return largest.clamp(min=SMALLEST).sqrt() / weights.clamp(min=SMALLEST).sqrt()


def _multiply(layers: Sequence[nn.Linear], scale: Tensor) -> None:
    for layer in layers:
        layer.weight *= scale


def eight_bit_tensors(model: nn.Module) -> dict[str, Tensor]:
    """Return the tensors of the checkpoint. The last layer is left out: it is that of the embeddings."""
    layers, tensors = linear_layers(model), {}
    for name, value in model.state_dict().items():
        layer = name.removesuffix(".weight")
        if layer in layers:
            tensors[name], tensors[f"{layer}.weight_scale"] = in_eight_bits(value)
        elif layer != LAST_LAYER:
            tensors[name] = value.to(torch.bfloat16).contiguous()
    return tensors


def in_eight_bits(weight: Tensor) -> tuple[Tensor, Tensor]:
    """Return the rounded weight, shape (outputs, inputs), and the scale of each row, shape (outputs, 1)."""
    scale = weight.abs().amax(1, keepdim=True).clamp(min=SMALLEST) / LARGEST
    return (weight / scale).round().to(torch.int8).contiguous(), scale.contiguous()


def config_of(read: dict[str, Any]) -> dict[str, Any]:
    """Return the config that says what vLLM finds in the checkpoint."""
    weights = {**_EIGHT_BITS, "strategy": "channel", "dynamic": False}
    activations = {**_EIGHT_BITS, "strategy": "token", "dynamic": True}
    group = {"targets": ["Linear"], "weights": weights, "input_activations": activations}
    quantised = {
        "quant_method": "compressed-tensors",
        "format": "int-quantized",
        "quantization_status": "compressed",
        "ignore": [LAST_LAYER],
        "config_groups": {"group_0": group},
    }
    return {**read, "dtype": "bfloat16", "tie_word_embeddings": True, "quantization_config": quantised}


if __name__ == "__main__":
    make(Path(sys.argv[1]), Path(sys.argv[2]))
