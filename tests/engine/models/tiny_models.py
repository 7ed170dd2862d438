"""Random models of real architectures, small enough to be made at test time."""

from __future__ import annotations

from pathlib import Path

import torch


def write_siglip(folder: Path, *, tokenizer: Path) -> Path:
    """A SigLIP of one layer, 16 numbers wide, with the tokenizer of another model's folder."""
    from transformers import AutoTokenizer, SiglipConfig, SiglipImageProcessor, SiglipModel

    torch.manual_seed(0)
    reader = AutoTokenizer.from_pretrained(str(tokenizer))
    small = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = SiglipConfig(
        text_config={**small, "vocab_size": len(reader), "max_position_embeddings": 64, "projection_size": 16},
        vision_config={**small, "image_size": 32, "patch_size": 16},
    )
    SiglipModel(config).save_pretrained(folder)
    reader.save_pretrained(folder)
    SiglipImageProcessor(size={"height": 32, "width": 32}).save_pretrained(folder)
    return folder


def write_deberta(folder: Path, *, tokenizer: Path, layers: int) -> Path:
    """A DeBERTa of that many narrow layers, with the tokenizer of another model's folder."""
    from transformers import AutoTokenizer, DebertaConfig, DebertaModel

    torch.manual_seed(0)
    reader = AutoTokenizer.from_pretrained(str(tokenizer))
    config = DebertaConfig(
        vocab_size=len(reader),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=layers,
        num_attention_heads=2,
        relative_attention=True,
        pos_att_type=["c2p", "p2c"],
        initializer_range=0.2,
    )
    DebertaModel(config).save_pretrained(folder)
    reader.save_pretrained(folder)
    return folder
