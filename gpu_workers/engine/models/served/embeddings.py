"""Embedders behind /v1/embeddings, and BERTScore over token embeddings of vLLM's /pooling: numpy only, no torch."""

from __future__ import annotations

import base64
import binascii
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PILImage

from gpu_workers.engine.ekg import Picture, Vector
from gpu_workers.engine.models.roles import Meter, ModelError, Scores
from gpu_workers.engine.models.served.transport import LineOptions, ModelServer, at_once, of_vllm, rows_of
from gpu_workers.engine.models.token_counts import cut

TEXTS_PER_REQUEST = 64
FRAMES_PER_REQUEST = 16


class ServedTextEmbedder:
    """A roles.TextEmbedder behind /v1/embeddings of vLLM, of a hosted provider or of any server of that protocol.

    model: the served name, which also names the vector space. dimension: width of its vectors. query_prefix: words that
    the model expects before a search text, and not before a stored text. context_tokens: its window; longer texts are
    cut. options: see transport.Line.
    """

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        dimension: int,
        query_prefix: str = "",
        context_tokens: int = 8_192,
        **options: Unpack[LineOptions],
    ) -> None:
        self.name = model
        self.dimension = dimension
        self._prefix = query_prefix
        self._context_tokens = context_tokens
        self._server = ModelServer(base_url=base_url, model=model, **options)

    def embed(self, texts: Sequence[str], *, meter: Meter) -> NDArray[np.float32]:
        """See roles.TextEmbedder.embed. Raises ModelError; model_misconfigured if the vectors have another width."""
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        # Texts of similar length share a request, so that the server's batches are even.
        order = sorted((k for k, text in enumerate(texts) if text.strip()), key=lambda k: len(texts[k]))
        parts = [order[at : at + TEXTS_PER_REQUEST] for at in range(0, len(order), TEXTS_PER_REQUEST)]

        def ask(part: Sequence[int]) -> NDArray[np.float32]:
            inputs = [cut(texts[k], self._context_tokens) for k in part]
            return _vectors(self._server, {"input": inputs}, len(part), self.dimension, meter)

        for part, vectors in zip(parts, at_once(ask, parts), strict=True):
            rows[part] = vectors
        return rows

    def embed_queries(self, texts: Sequence[str], *, meter: Meter) -> NDArray[np.float32]:
        """Embed search texts, with the words that the model expects before them."""
        return self.embed([self._prefix + text if text.strip() else "" for text in texts], meter=meter)


class ServedFrameEmbedder:
    """A roles.FrameEmbedder: a model of two towers (SigLIP, SigLIP2, CLIP) behind vLLM's /v1/embeddings.

    model, dimension and the rest: see ServedTextEmbedder. SigLIP learnt texts in lower case that are filled up to the
    end of its window: with fixed_length the server pads and cuts them. picture_px: longest side of the pictures that
    are sent; the model scales them to its own size.
    """

    open_vocabulary = True

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        dimension: int,
        query_prefix: str = "",
        fixed_length: bool = True,
        picture_px: int = 512,
        **options: Unpack[LineOptions],
    ) -> None:
        self.name = model
        self.dimension = dimension
        self._prefix, self._fixed, self._picture_px = query_prefix, fixed_length, picture_px
        self._server = ModelServer(base_url=base_url, model=model, **options)

    def embed_frames(self, pictures: Sequence[Picture], *, meter: Meter) -> NDArray[np.float32]:
        """Return an array of shape (len(pictures), dimension), rows of unit length. Raises ModelError."""
        parts = [pictures[at : at + FRAMES_PER_REQUEST] for at in range(0, len(pictures), FRAMES_PER_REQUEST)]

        def ask(part: Sequence[Picture]) -> NDArray[np.float32]:
            conversations = [[{"role": "user", "content": [self._image(picture)]}] for picture in part]
            return _vectors(self._server, {"messages": conversations}, len(part), self.dimension, meter)

        answers = at_once(ask, parts)
        return np.concatenate(answers) if answers else np.zeros((0, self.dimension), dtype=np.float32)

    def embed_query(self, text: str, *, meter: Meter) -> Vector:
        """Return the unit vector of a search text; the zero vector for an empty text. Raises ModelError."""
        if not text.strip():
            return np.zeros(self.dimension, dtype=np.float32)
        body: dict[str, Any] = {"input": [(self._prefix + text).lower() if self._fixed else self._prefix + text]}
        if self._fixed:
            body["padding"] = "max_length"
        return np.asarray(_vectors(self._server, body, 1, self.dimension, meter)[0], dtype=np.float32)

    def _image(self, picture: Picture) -> Mapping[str, Any]:
        image = PILImage.fromarray(picture)
        image.thumbnail((self._picture_px, self._picture_px))
        written = BytesIO()
        image.save(written, "JPEG", quality=90)
        uri = "data:image/jpeg;base64," + base64.b64encode(written.getvalue()).decode()
        return {"type": "image_url", "image_url": {"url": uri}}


_WORD = "word"
_HALVES = {"encoding_format": "base64", "embed_dtype": "float16", "endianness": "little"}
"""Half precision: a text of 200 tokens and 384 numbers is 200 kB."""


@dataclass(frozen=True, slots=True)
class _Frame:
    """What a server puts around a text's tokens: special tokens before and after it, and numbers in each row."""

    before: int
    after: int
    width: int


@dataclass(frozen=True, slots=True, eq=False)
class _Tokens:
    """Token embeddings of one text without its special tokens, unit rows of shape (tokens, width)."""

    rows: NDArray[np.float32]


class ServedTokenSimilarity:
    """A roles.Similarity: BERTScore by greedy matching (Zhang et al. 2020) over token embeddings of vLLM's /pooling.

    A server of vLLM plays one pooling task, so this one is another than the text embedder's (task token_embed).
    Every token counts the same (no idf), and the special tokens at both ends of a text do not count. baseline: mean raw
    F1 of unrelated texts with this model. context_tokens: window of the model; longer texts are cut.
    """

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        baseline: float,
        context_tokens: int = 8_192,
        **options: Unpack[LineOptions],
    ) -> None:
        self.name = f"bertscore-{model}"
        self.baseline = baseline
        self._context_tokens = context_tokens
        self._lock = threading.Lock()
        self._frame: _Frame | None = None
        self._server = ModelServer(base_url=base_url, model=model, **options)

    def encode(self, texts: Sequence[str], *, meter: Meter) -> Sequence[_Tokens]:
        """See roles.Similarity.encode. Raises ModelError."""
        encoded = [_Tokens(np.zeros((0, 0), dtype=np.float32))] * len(texts)
        filled = [k for k, text in enumerate(texts) if text.strip()]
        if not filled:
            return encoded
        frame = self._framed(meter)
        parts = [filled[at : at + TEXTS_PER_REQUEST] for at in range(0, len(filled), TEXTS_PER_REQUEST)]

        def ask(part: Sequence[int]) -> list[NDArray[np.float32]]:
            # The server cuts texts to its window; no tokenizer makes a window's tokens of more than this.
            written = self._pool([cut(texts[k], 4 * self._context_tokens) for k in part], _HALVES, meter)
            return [_floats(data, "<f2").reshape(-1, frame.width) for data in written]

        for part, matrices in zip(parts, at_once(ask, parts), strict=True):
            for k, matrix in zip(part, matrices, strict=True):
                encoded[k] = _Tokens(_unit(matrix[frame.before : len(matrix) - frame.after]))
        return encoded

    def score(self, candidates: Sequence[object], references: Sequence[object]) -> Scores:
        """See roles.Similarity.score. Raises ValueError for unequal lengths, TypeError for objects that encode() did
        not make."""
        if len(candidates) != len(references):
            raise ValueError(f"{len(candidates)} candidates against {len(references)} references")
        result = np.zeros((3, len(candidates)), dtype=np.float32)
        for k, (candidate, reference) in enumerate(zip(candidates, references, strict=True)):
            if not isinstance(candidate, _Tokens) or not isinstance(reference, _Tokens):
                raise TypeError("score() takes what encode() of the same class returned")
            if len(candidate.rows) and len(reference.rows):
                # A padded batch of bert_score holds a 0 for every token, so no cosine counts as less than 0.
                cosines = np.maximum(candidate.rows @ reference.rows.T, 0.0)
                result[:2, k] = cosines.max(axis=1).mean(), cosines.max(axis=0).mean()
        both = result[0] + result[1]
        np.divide(2 * result[0] * result[1], both, out=result[2], where=both != 0)
        return Scores(*result)

    def _framed(self, meter: Meter) -> _Frame:
        """Ask the server once for the shape of a text's token embeddings. Raises ModelError."""
        with self._lock:
            if self._frame is None:
                bare, framed = (self._tokens(special, meter) for special in (False, True))
                starts = [n for n in range(len(framed) + 1) if framed[n : n + len(bare)] == bare]
                rows = np.asarray(self._pool([_WORD], {}, meter)[0])
                if not starts or rows.ndim != 2 or len(rows) != len(framed):
                    message = f"{self.name}: shape {rows.shape} for {len(framed)} tokens; it is no token embedder"
                    raise ModelError("model_misconfigured", message, retryable=True)
                self._frame = _Frame(starts[0], len(framed) - starts[0] - len(bare), rows.shape[1])
            return self._frame

    def _tokens(self, special: bool, meter: Meter) -> list[int]:
        return self._server.post(
            "//tokenize",
            {"prompt": _WORD, "add_special_tokens": special},
            lambda reply: [int(token) for token in reply["tokens"]],
            stage="similarity",
            meter=meter,
            items=1,
        )

    def _pool(self, texts: Sequence[str], options: Mapping[str, Any], meter: Meter) -> list[object]:
        """Return the token embeddings of each text as the server writes them."""
        return self._server.post(
            "//pooling",
            {"input": texts, "task": "token_embed", **options},
            lambda reply: [row["data"] for row in rows_of(reply["data"], len(texts))],
            stage="similarity",
            meter=meter,
            items=len(texts),
            optional=of_vllm(meter),
        )


def _vectors(
    server: ModelServer, body: Mapping[str, Any], count: int, dimension: int, meter: Meter
) -> NDArray[np.float32]:
    """Return the unit rows of one request, shape (count, dimension). Raises ModelError."""

    def read(reply: Mapping[str, Any]) -> NDArray[np.float32]:
        vectors = np.stack([_floats(row["embedding"]) for row in rows_of(reply["data"], count)])
        if vectors.shape[1] != dimension:
            message = f"{server.model}: its vectors have {vectors.shape[1]} numbers, not {dimension}: check the model"
            raise ModelError("model_misconfigured", message, retryable=True)
        return vectors

    vectors = server.post(
        "/embeddings",
        {**body, "encoding_format": "base64"},
        read,
        stage="embedding",
        meter=meter,
        items=count,
        optional=of_vllm(meter),
    )
    return _unit(vectors)


def _floats(data: object, kind: str = "<f4") -> NDArray[np.float32]:
    """Return numbers that came as base64 of kind, or as a list from a server that has no base64."""
    if isinstance(data, str):
        try:
            numbers = np.frombuffer(base64.b64decode(data, validate=True), dtype=kind).astype(np.float32)
        except binascii.Error as error:
            raise ValueError("a vector is no base64") from error
    else:
        numbers = np.asarray(data, dtype=np.float32).reshape(-1)
    if not numbers.size or not np.isfinite(numbers).all():
        raise ValueError("a vector is empty or not finite")
    return numbers


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(norms == 0, 1.0, norms), dtype=np.float32)
