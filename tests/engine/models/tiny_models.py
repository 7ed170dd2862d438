"""Random models of real architectures, small enough to be made at test time."""

from __future__ import annotations

from pathlib import Path

import torch


def write_clip(folder: Path, *, words: int = 16) -> Path:
    """A CLIP of one layer, 12 numbers wide, that reads letters. words: positions of its text encoder."""
    from transformers import CLIPConfig, CLIPImageProcessor, CLIPModel, CLIPProcessor, CLIPTokenizer

    torch.manual_seed(0)
    folder.mkdir(parents=True)
    letters = "abcdefghijklmnopqrstuvwxyz"
    vocabulary = ["<|startoftext|>", "<|endoftext|>", *letters, *(f"{c}</w>" for c in letters)]
    (folder / "vocab.json").write_text("{" + ", ".join(f'"{w}": {k}' for k, w in enumerate(vocabulary)) + "}")
    (folder / "merges.txt").write_text("#version: 0.2\n")
    tokenizer = CLIPTokenizer(str(folder / "vocab.json"), str(folder / "merges.txt"), model_max_length=words)
    small = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = CLIPConfig(
        text_config={
            **small,
            "vocab_size": len(vocabulary),
            "max_position_embeddings": words,
            "eos_token_id": 1,
            "bos_token_id": 0,
        },
        vision_config={**small, "image_size": 32, "patch_size": 16},
        projection_dim=12,
    )
    CLIPModel(config).save_pretrained(folder)
    images = CLIPImageProcessor(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32})
    CLIPProcessor(images, tokenizer).save_pretrained(folder)
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
