"""The reasoner in 8 bits that `make eval-reasoner` serves computes what the model in 16 bits computes, nearly."""

from __future__ import annotations

import torch
from transformers import Qwen2Config, Qwen2ForCausalLM

from infra.vllm.make_eight_bit_model import (
    config_of,
    eight_bit_tensors,
    in_eight_bits,
    largest_inputs,
    linear_layers,
    smooth,
)


def tiny_model() -> Qwen2ForCausalLM:
    """Return a random model of the reasoner's architecture, one channel of which is a hundred times as large."""
    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=64,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        tie_word_embeddings=True,
    )
    model = Qwen2ForCausalLM(config)
    model.eval()  # type: ignore[no-untyped-call]
    with torch.no_grad():
        model.model.layers[0].input_layernorm.weight[3] = 100.0
    return model


def test_a_row_is_rounded_to_127_steps_of_its_largest_weight() -> None:
    rounded, scale = in_eight_bits(torch.tensor([[1.27, -0.5, 0.004], [0.0, 0.0, 0.0]]))

    assert rounded.tolist() == [[127, -50, 0], [0, 0, 0]]
    assert scale.shape == (2, 1)
    assert abs(float(scale[0]) - 0.01) < 1e-9


@torch.no_grad()
def test_smoothing_changes_no_output_and_makes_the_largest_inputs_smaller() -> None:
    model, ids = tiny_model(), torch.arange(24).reshape(1, -1)
    before = model(ids).logits
    largest = largest_inputs(model, [ids])

    smooth(model, largest)

    assert torch.allclose(model(ids).logits, before, atol=1e-4)
    spread = {name: float(values.max() / values.median()) for name, values in largest.items()}
    smoothed = {name: float(values.max() / values.median()) for name, values in largest_inputs(model, [ids]).items()}
    first = "model.layers.0.self_attn.q_proj"
    assert smoothed[first] < spread[first] / 5


@torch.no_grad()
def test_the_written_weights_give_nearly_the_same_words() -> None:
    model, ids = tiny_model(), torch.arange(24).reshape(1, -1)
    before = model(ids).logits
    smooth(model, largest_inputs(model, [ids]))
    tensors = eight_bit_tensors(model)

    assert "lm_head.weight" not in tensors, "it is that of the embeddings"
    for name, layer in linear_layers(model).items():
        assert tensors[f"{name}.weight"].dtype is torch.int8
        layer.weight.copy_(tensors[f"{name}.weight"] * tensors[f"{name}.weight_scale"])
    after = model(ids).logits
    assert float((after - before).norm() / before.norm()) < 0.02
    assert (after.argmax(-1) == before.argmax(-1)).float().mean() > 0.9


def test_the_config_says_what_the_checkpoint_holds() -> None:
    config = config_of(tiny_model().config.to_dict())

    group = config["quantization_config"]["config_groups"]["group_0"]
    assert group["weights"] == {
        "num_bits": 8,
        "type": "int",
        "symmetric": True,
        "strategy": "channel",
        "dynamic": False,
    }
    assert (group["input_activations"]["strategy"], group["input_activations"]["dynamic"]) == ("token", True)
    assert config["quantization_config"]["ignore"] == ["lm_head"]
    assert config["model_type"] == "qwen2"
