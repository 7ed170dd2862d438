"""``python make_tiny_models.py KIND TEXT-FOLDER FOLDER`` makes a tiny random model of an architecture of models.json.

Runs in vLLM's environment, never in the project's. TEXT-FOLDER: the small text model, whose tokenizer the chat models
take. The other models read bytes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import (
    AutoTokenizer,
    PreTrainedTokenizerFast,
    Qwen3Config,
    Qwen3ForCausalLM,
    SiglipConfig,
    SiglipImageProcessor,
    SiglipModel,
    SiglipProcessor,
    XLMRobertaConfig,
    XLMRobertaForSequenceClassification,
    XLMRobertaModel,
)

_WIDTH = 64
_SMALL = {"hidden_size": _WIDTH, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2}


def text_embedder(text: Path, folder: Path) -> None:
    """Write an XLM-RoBERTa that embeds a text by its first token, as bge-m3 does."""
    tokenizer = _bytes_tokenizer()
    model = XLMRobertaModel(_xlm_roberta(tokenizer))
    _spread(model)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    steps = ("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")
    modules = [
        {"idx": k, "name": str(k), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for k, (path, kind) in enumerate(steps)
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling").mkdir()
    pooling = {"word_embedding_dimension": _WIDTH, "pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))


def reranker(text: Path, folder: Path) -> None:
    """Write an XLM-RoBERTa with one output, as bge-reranker-v2-m3 has."""
    _classifier(folder, {0: "LABEL_0"})


def entailer(text: Path, folder: Path) -> None:
    """Write an XLM-RoBERTa with the three outputs of xlm-roberta-large-xnli."""
    _classifier(folder, {0: "contradiction", 1: "neutral", 2: "entailment"})


def frame_embedder(text: Path, folder: Path) -> None:
    """Write a SigLIP of two towers; SigLIP2 with a fixed picture size has the same architecture."""
    # SigLIP ends a text with one mark, and fills it up with another.
    tokenizer = _bytes_tokenizer(single="$A </s>", longest=64)
    config = SiglipConfig(
        text_config={
            **_SMALL,
            "vocab_size": len(tokenizer),
            "max_position_embeddings": 64,
            "projection_size": _WIDTH,
            "pad_token_id": tokenizer.pad_token_id,
            "eos_token_id": tokenizer.eos_token_id,
            "bos_token_id": tokenizer.bos_token_id,
        },
        vision_config={**_SMALL, "image_size": 64, "patch_size": 16},
    )
    model = SiglipModel(config)
    _spread(model)
    model.save_pretrained(folder)
    pictures = SiglipImageProcessor(size={"height": 64, "width": 64})
    SiglipProcessor(pictures, tokenizer).save_pretrained(folder)  # type: ignore[no-untyped-call]


def chat(text: Path, folder: Path) -> None:
    """Write a Qwen3 with the small text model's tokenizer. It has learnt nothing."""
    tokenizer = AutoTokenizer.from_pretrained(text)
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        **_SMALL,
        num_key_value_heads=1,
        head_dim=32,
        max_position_embeddings=32_768,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    Qwen3ForCausalLM(config).bfloat16().save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _classifier(folder: Path, labels: dict[int, str]) -> None:
    tokenizer = _bytes_tokenizer()
    config = _xlm_roberta(tokenizer, id2label=labels, label2id={label: n for n, label in labels.items()})
    model = XLMRobertaForSequenceClassification(config)
    _spread(model)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _xlm_roberta(tokenizer: PreTrainedTokenizerFast, **more: object) -> XLMRobertaConfig:
    return XLMRobertaConfig(
        vocab_size=len(tokenizer),
        **_SMALL,
        max_position_embeddings=514,
        type_vocab_size=1,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        **more,
    )


def _spread(model: torch.nn.Module) -> None:
    """Widen the weights, so that different inputs give clearly different outputs."""
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(std=0.2)


def _bytes_tokenizer(
    single: str = "<s> $A </s>", pair: str = "<s> $A </s> </s> $B </s>", longest: int = 512
) -> PreTrainedTokenizerFast:
    """Return a tokenizer with one token for each byte, and the special tokens of XLM-RoBERTa."""
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    vocabulary = {token: n for n, token in enumerate([*special, *sorted(pre_tokenizers.ByteLevel.alphabet())])}
    tokenizer = Tokenizer(models.BPE(vocabulary, [], unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    marks = [(token, vocabulary[token]) for token in ("<s>", "</s>")]
    tokenizer.post_processor = processors.TemplateProcessing(single=single, pair=pair, special_tokens=marks)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        sep_token="</s>",
        cls_token="<s>",
        pad_token="<pad>",
        unk_token="<unk>",
        model_max_length=longest,
    )


MAKERS: dict[str, Callable[[Path, Path], None]] = {
    maker.__name__: maker for maker in (chat, text_embedder, frame_embedder, reranker, entailer)
}

if __name__ == "__main__":
    torch.manual_seed(20260502)
    MAKERS[sys.argv[1]](Path(sys.argv[2]), Path(sys.argv[3]))
