"""``python make_text_model.py WEIGHTS.gguf FOLDER`` writes a GGUF file's model in the format of transformers and vLLM.

Runs in vLLM's environment, never in the project's.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


def make(gguf: Path, folder: Path) -> None:
    """Write the model in gguf as bfloat16 safetensors with its tokenizer and chat template."""
    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    read = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.bfloat16)
    # The model that was read counts as quantised and is not written as bfloat16; a fresh model with its weights is.
    config = read.config
    del config.quantization_config
    model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)  # type: ignore[no-untyped-call]
    model.load_state_dict(read.state_dict())
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


if __name__ == "__main__":
    make(Path(sys.argv[1]), Path(sys.argv[2]))
