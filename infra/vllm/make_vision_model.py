"""``python make_vision_model.py TEXT-FOLDER FOLDER`` makes a tiny Qwen3-VL with the tokenizer of another model.

Runs in vLLM's environment, never in the project's.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import torch
from transformers import (
    AutoTokenizer,
    Qwen2VLImageProcessor,
    Qwen3VLConfig,
    Qwen3VLForConditionalGeneration,
    Qwen3VLProcessor,
    Qwen3VLVideoProcessor,
)

_WIDTH = 128
_VISION_TOKENS = ("<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>")
# Ends of strings and the marks after them; a token that also begins a string could bring a mark into it.
_QUOTES = frozenset({'"', '",', '","', '"}', '"},', '"]', '"],', '":', '":"'})
# Turns in the text model's format; a picture or a video is one placeholder, which the processor widens to its tokens.
_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n"
    "{% if message.content is string %}{{ message.content }}{% else %}{% for part in message.content %}"
    "{% if part.type == 'text' %}{{ part.text }}"
    "{% else %}<|vision_start|>{% if 'video' in part.type %}<|video_pad|>{% else %}<|image_pad|>{% endif %}"
    "<|vision_end|>{% endif %}"
    "{% endfor %}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
# Qwen3-VL's sizes: a picture of 32 x 32 pixels is one token, and so are two frames of a video.
_PATCH, _MERGED = 16, 2


def make(text: Path, folder: Path) -> None:
    """Write a Qwen3-VL of 13 million random weights, most of them vocabulary. It has learnt nothing.

    Its last layer is not entirely random: see _tilt().
    """
    torch.manual_seed(20250502)
    tokenizer = AutoTokenizer.from_pretrained(text)
    tokenizer.add_special_tokens({"additional_special_tokens": list(_VISION_TOKENS)})
    tokenizer.chat_template = _TEMPLATE
    start, end, image, video = (tokenizer.get_vocab()[token] for token in _VISION_TOKENS)
    config = Qwen3VLConfig(
        text_config={
            "vocab_size": len(tokenizer),
            "hidden_size": _WIDTH,
            "intermediate_size": 2 * _WIDTH,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "num_key_value_heads": 1,
            "head_dim": _WIDTH // 2,
            "max_position_embeddings": 32_768,
            "rope_parameters": {
                "rope_type": "default",
                "rope_theta": 1e6,
                "mrope_section": [12, 10, 10],
                "mrope_interleaved": True,
            },
            "bos_token_id": tokenizer.bos_token_id,
            "eos_token_id": tokenizer.eos_token_id,
        },
        vision_config={
            "depth": 2,
            "hidden_size": 64,
            "intermediate_size": 128,
            "num_heads": 2,
            "out_hidden_size": _WIDTH,
            "patch_size": _PATCH,
            "spatial_merge_size": _MERGED,
            "deepstack_visual_indexes": [0],
        },
        image_token_id=image,
        video_token_id=video,
        vision_start_token_id=start,
        vision_end_token_id=end,
        tie_word_embeddings=False,
    )
    model = Qwen3VLForConditionalGeneration(config)
    with torch.no_grad():
        _tilt(model, tokenizer.get_vocab())
    model.bfloat16().save_pretrained(folder)
    token = (_PATCH * _MERGED) ** 2
    patches: dict[str, Any] = {"patch_size": _PATCH, "merge_size": _MERGED, "temporal_patch_size": 2}
    means: dict[str, Any] = {"image_mean": [0.5] * 3, "image_std": [0.5] * 3}
    pictures = Qwen2VLImageProcessor(min_pixels=4 * token, max_pixels=300 * token, **patches, **means)
    # The limit of a video counts the pixels of all its frames.
    limits = {"shortest_edge": 4 * token, "longest_edge": 16 * 300 * token}
    videos = Qwen3VLVideoProcessor(size=limits, **patches, **means)
    processor = Qwen3VLProcessor(pictures, tokenizer, videos, chat_template=_TEMPLATE)  # type: ignore[no-untyped-call]
    processor.save_pretrained(folder)


def _tilt(model: Qwen3VLForConditionalGeneration, vocabulary: dict[str, int]) -> None:
    """Favour the ends of strings, numbers and lists; otherwise a random model fills each answer to its last token.

    The layers add nothing to three of the hidden numbers: the first is the same for every token, the second is set if
    the previous token was a word, the third if it had a quotation mark. The rows of the last layer read them as a bias.
    Everything else of the next token stays random, and depends on the pictures.
    """
    words, quotes, marks = [], [], {}
    for token, n in vocabulary.items():
        if re.fullmatch("Ġ[a-z]{3,8}", token):
            words.append(n)
        elif token in _QUOTES:
            quotes.append(n)
        elif re.fullmatch(r"[\]\[{}:,]|[0-9]", token):
            marks[token] = n
    always, after_word, after_quote = (torch.full((len(vocabulary),), level) for level in (-20.0, 0.0, 0.0))
    always[words], always[quotes] = 0.0, 2.0
    for token, n in marks.items():
        always[n] = {"{": 6.0, "]": 4.0, "}": 4.0, ",": 3.0}.get(token, -3.0)
    after_word[quotes], after_quote[quotes] = 2.4, -9.0
    numbers = list(marks.values())
    after_word[numbers] = after_quote[numbers] = -14.0

    language = model.model.language_model
    embeddings = language.embed_tokens.weight.normal_()
    embeddings[:, 0], embeddings[:, 1:3] = 8.0, 0.0
    embeddings[words, 1] = embeddings[quotes, 2] = 4.0
    # Wide enough that earlier tokens weigh as much as the last token.
    for layer in language.layers:
        layer.self_attn.v_proj.weight.normal_(std=0.1)
        for weight in (layer.self_attn.o_proj.weight, layer.mlp.down_proj.weight):
            weight.normal_(std=0.15)
            weight[:3] = 0.0
    visual = model.model.visual
    for merger in (visual.merger, *visual.deepstack_merger_list):
        pictures = merger.linear_fc2.weight.normal_(std=1.0)
        pictures[:3] = 0.0
    head = model.lm_head.weight.normal_(std=0.11)
    # The last norm divides by about this number.
    scale = 2.4
    head[:, 0], head[:, 1], head[:, 2] = always * scale / 8, after_word * scale / 4, after_quote * scale / 4


if __name__ == "__main__":
    make(Path(sys.argv[1]), Path(sys.argv[2]))
