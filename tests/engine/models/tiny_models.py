"""Random models of real architectures, small enough to be made at test time."""

from __future__ import annotations

from collections.abc import Sequence
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


def write_rtdetr(folder: Path, *, labels: Sequence[str] = ("person", "motorbike", "tvmonitor", "gazebo")) -> Path:
    """An RT-DETRv2 of two narrow decoder layers and 10 queries, which looks at pictures of 64 x 64."""
    from transformers import RTDetrImageProcessorPil, RTDetrResNetConfig, RTDetrV2Config, RTDetrV2ForObjectDetection

    torch.manual_seed(0)
    sides = {"hidden_sizes": [8, 8, 16, 16], "depths": [1, 1, 1, 1], "out_features": ["stage2", "stage3", "stage4"]}
    narrow = dict.fromkeys(("d_model", "encoder_hidden_dim", "encoder_ffn_dim", "decoder_ffn_dim"), 16)
    heads = {"encoder_attention_heads": 2, "decoder_attention_heads": 2, "decoder_layers": 2, "num_queries": 10}
    config = RTDetrV2Config(
        backbone_config=RTDetrResNetConfig(embedding_size=8, layer_type="basic", **sides),
        encoder_in_channels=[8, 16, 16],
        decoder_in_channels=[16, 16, 16],
        **narrow,
        **heads,
        id2label=dict(enumerate(labels)),
        label2id={label: n for n, label in enumerate(labels)},
    )
    RTDetrV2ForObjectDetection(config).save_pretrained(folder)
    RTDetrImageProcessorPil(size={"height": 64, "width": 64}).save_pretrained(folder)
    return folder
