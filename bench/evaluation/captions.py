"""An Event Knowledge Graph from captions or timed sentences: the product's own assembly, with words for pictures.

No picture is seen, so rules over the captions' words play three roles: an event's summary is its distinct captions in
order, its entities are the noun phrases that follow an article, and its relations are the words between two of these
phrases. A caption replaces the frame of its second, for retrieval and for a look at it. Topics and the overview are
those of the measured narrator. There is no speech, and nothing is tracked. Merging, linking, embedding, splitting into
topics and all of retrieval are real.
"""

from __future__ import annotations

import hashlib
import pickle
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from uuid import UUID, uuid4

import numpy as np

from bench.evaluation.datasets import Sentence
from bench.instant_models import instant_models
from gpu_workers.engine.ekg import (
    Chunk,
    EntityMention,
    Event,
    EventRecord,
    Extraction,
    FrameRow,
    LinkedMention,
    Relation,
    RelationStatement,
    SegmentRecord,
    Span,
    Topic,
    chunk_spans,
    stable_id,
)
from gpu_workers.engine.indexing.assembly import EventAssembler
from gpu_workers.engine.indexing.global_summary import summarise
from gpu_workers.engine.indexing.identity import identity_text
from gpu_workers.engine.indexing.linking import EntityLinker, LinkingSettings, distinct_mentions
from gpu_workers.engine.indexing.memory_index import MemoryIndex
from gpu_workers.engine.memory_graph import MemoryVideo
from gpu_workers.engine.models.calibration import calibration_of
from gpu_workers.engine.models.observer.narrator import MeasuredNarrator
from gpu_workers.engine.models.roles import Meter, Scores, Similarity, TextEmbedder

FORM = 2
"""Part of every cache key: raised if the same captions give another index."""

LONG_WORDS = 25
"""Number of words above which a caption describes its moment alone: a chunk or an event then takes the middle one."""

_ARTICLE = re.compile(r"\b(?:the|a|an|his|her|their|its|some|two|three)\s+((?:[a-z]+[ -]?){1,3})", re.IGNORECASE)
_STOP = frozenset(
    word
    for line in (
        "with on in at from to into onto of and or then while for by is are was were be being been as that which who",
        "it his her their its the a an this these those off up down out over under near behind beside around through",
        "again has have can may not but also some other another",
    )
    for word in line.split()
)
_VERBAL = re.compile(r"(?:ing|ed|es)$")


def video_id(name: str) -> UUID:
    return stable_id("evaluation", name)


class CaptionIndex:
    """Makes and caches indexes of captions. folder: the cache, by content."""

    def __init__(self, embedder: TextEmbedder, similarity: Similarity, *, folder: Path) -> None:
        self._embedder, self._similarity, self._folder = embedder, similarity, folder

    def merged_by_recall(self) -> CaptionIndex:
        """Return the same index with events merged by recall instead of F1, as in the code of AVA's authors."""
        return CaptionIndex(self._embedder, RecallSimilarity(self._similarity), folder=self._folder / "by-recall")

    def of_captions(self, name: str, captions: Sequence[Sentence], *, profile: str) -> MemoryVideo:
        """Return the index of one video's captions, in chunks of 3 s, merged to events like a described video."""
        return self._cached("captions", name, captions, lambda: self._assembled(name, captions, profile))

    def of_long_events(self, name: str, captions: Sequence[Sentence], *, words: int, profile: str) -> MemoryVideo:
        """Return the index of one video's captions, joined to events of about so many words, as a VLM writes them."""
        return self._cached(f"events of {words}", name, captions, lambda: self._joined(name, captions, words, profile))

    def of_events(self, name: str, events: Sequence[Sentence]) -> MemoryVideo:
        """Return the index of sentences with their own spans, each an event unchanged; they may overlap."""
        return self._cached("events", name, events, lambda: self._as_they_stand(name, events))

    def _cached(
        self, form: str, name: str, sentences: Sequence[Sentence], make: Callable[[], MemoryVideo]
    ) -> MemoryVideo:
        models = self._embedder.name, self._similarity.name
        fitted = calibration_of(similarity=models[1], text_embedder=models[0]).thresholds.merge.value
        # Pickles name the module of their classes and hold their fields in order: a file from before a change is not
        # read.
        kinds = (MemoryVideo, Chunk, Event, LinkedMention, Relation, Topic)
        shapes = [[field.name for field in fields(kind)] for kind in kinds]
        key = repr((FORM, MemoryVideo.__module__, shapes, form, name, models, fitted, sentences))
        path = self._folder / f"{form}-{hashlib.sha256(key.encode()).hexdigest()[:20]}.pickle"
        if path.exists():
            cached: MemoryVideo = pickle.loads(path.read_bytes())  # noqa: S301 - written by this class
            return cached
        made = make()
        self._folder.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(f".{uuid4().hex}.part")
        partial.write_bytes(pickle.dumps(made))
        partial.replace(path)
        return made

    def _assembled(self, name: str, captions: Sequence[Sentence], profile: str) -> MemoryVideo:
        video = video_id(name)
        chunks = tuple(_chunks(captions))
        index = MemoryIndex(video)
        models = instant_models(
            text_embedder=self._embedder,
            similarity=self._similarity,
            summariser=CaptionSummariser(),
            extractor=CaptionExtractor(),
        )
        assembler = EventAssembler(
            video, 1, models, index, index, profile=profile, meter=Meter(), frames_for=lambda span, limit: ()
        )
        assembler.push(chunks)
        assembler.flush()
        return self._whole(index, chunks, captions, profile=profile)

    def _joined(self, name: str, captions: Sequence[Sentence], words: int, profile: str) -> MemoryVideo:
        return self._whole(self._linked(name, joined(captions, words)), (), captions, profile=profile)

    def _whole(
        self, index: MemoryIndex, chunks: Sequence[Chunk], captions: Sequence[Sentence], *, profile: str
    ) -> MemoryVideo:
        """Return the index with the captions as frames, and with topics and overview."""
        frames = self._frames(captions)
        if captions:
            index.add_segment(SegmentRecord(Span(0, captions[-1].span.end_ms), tuple(chunks), tuple(frames)))
        summarise(index, MeasuredNarrator(), self._embedder, profile=profile, meter=Meter())
        return MemoryVideo(index.video_id, index.events, chunks, frames, topics=index.topics, overview=index.overview)

    def _frames(self, captions: Sequence[Sentence]) -> list[FrameRow]:
        """Return a frame for each caption: the caption in UTF-8 is its picture, and its vector is that of the text."""
        vectors = self._embedder.embed([caption.text for caption in captions], meter=Meter())
        return [FrameRow(c.span.start_ms, c.text.encode(), row) for c, row in zip(captions, vectors, strict=True)]

    def _as_they_stand(self, name: str, sentences: Sequence[Sentence]) -> MemoryVideo:
        return MemoryVideo(video_id(name), self._linked(name, sentences).events)

    def _linked(self, name: str, sentences: Sequence[Sentence]) -> MemoryIndex:
        """Return the index of sentences with their own spans, each an event unchanged."""
        video = video_id(name)
        index = MemoryIndex(video)
        linker = EntityLinker(video, 1, index, LinkingSettings())
        extractions = [extracted(sentence.text) for sentence in sentences]
        mentions = [distinct_mentions(extraction.mentions) for extraction in extractions]
        texts = [identity_text(mention) for group in mentions for mention in group]
        vectors = self._embedder.embed([sentence.text for sentence in sentences], meter=Meter())
        rows = iter(self._embedder.embed(texts, meter=Meter()))
        for n, (sentence, vector) in enumerate(zip(sentences, vectors, strict=True)):
            event = Event(stable_id("event", video, n), n, sentence.span, n, n + 1, sentence.text, vector)
            own = np.asarray([next(rows) for _ in mentions[n]], dtype=np.float32)
            linked = linker.link(event.id, mentions[n], own, extractions[n].relations)
            index.append(EventRecord(event, linked.entities, linked.mentions, linked.relations))
        return index


def joined(captions: Sequence[Sentence], words: int) -> list[Sentence]:
    """Join neighbouring captions to events of at least so many words, the last one with what is left.

    A caption that repeats the one before makes its event longer and adds no words.
    """
    groups: list[list[Sentence]] = []
    full = True
    for caption in captions:
        text = caption.text.rstrip(". ")
        if groups and text in ("", groups[-1][-1].text):
            last = groups[-1][-1]
            groups[-1][-1] = Sentence(Span(last.span.start_ms, caption.span.end_ms), last.text)
        elif text:
            if full:
                groups.append([])
            groups[-1].append(Sentence(caption.span, text))
            full = sum(len(told.text.split()) for told in groups[-1]) >= words
    return [
        Sentence(Span(group[0].span.start_ms, group[-1].span.end_ms), ". ".join(told.text for told in group) + ".")
        for group in groups
    ]


class RecallSimilarity:
    """A similarity that gives recall for F1. It keeps the name, and so the thresholds that were fitted to F1."""

    def __init__(self, inner: Similarity) -> None:
        self.name, self.baseline, self._inner = inner.name, inner.baseline, inner

    def encode(self, texts: Sequence[str], *, meter: Meter) -> Sequence[object]:
        return self._inner.encode(texts, meter=meter)

    def score(self, candidates: Sequence[object], references: Sequence[object]) -> Scores:
        scores = self._inner.score(candidates, references)
        return Scores(scores.precision, scores.recall, scores.recall)


class CaptionSummariser:
    name = "captions"

    def summarise(self, chunks: Sequence[Chunk], *, profile: str, meter: Meter) -> str:
        return _told([chunk.description for chunk in chunks if chunk.description])


class CaptionExtractor:
    name = "noun phrases"

    def extract(
        self, summary: str, chunks: Sequence[Chunk], frames: Sequence[tuple[int, bytes]], *, profile: str, meter: Meter
    ) -> Extraction:
        return extracted(summary)


def extracted(text: str) -> Extraction:
    """Return noun phrases after articles, and as relations the words between two phrases of one sentence."""
    mentions: dict[str, EntityMention] = {}
    relations: list[RelationStatement] = []
    for sentence in re.split(r"[.;]\s*", text):
        phrases = list(_phrases(sentence))
        for _, _, phrase in phrases:
            mentions.setdefault(phrase, EntityMention(phrase, "thing", ""))
        for (_, end, subject), (start, _, target) in pairwise(phrases):
            words = re.sub(r"\b(?:the|a|an)\b", " ", sentence[end:start]).split()
            if subject != target and 1 <= len(words) <= 4:
                relations.append(RelationStatement(subject, " ".join(words).lower(), target))
    return Extraction(tuple(mentions.values()), tuple(relations))


def _phrases(sentence: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, phrase) of each noun phrase, which ends before the first word that cannot belong to it."""
    for match in _ARTICLE.finditer(sentence):
        words: list[str] = []
        for word in match.group(1).lower().split():
            if word in _STOP or (words and _VERBAL.search(word)):
                break
            words.append(word)
        if words:
            start = match.start(1)
            yield match.start(), start + len(" ".join(words)), " ".join(words)


def _chunks(captions: Sequence[Sentence]) -> Iterator[Chunk]:
    if not captions:
        return
    at = 0
    for n, span in chunk_spans(Span(0, captions[-1].span.end_ms)):
        texts = []
        while at < len(captions) and captions[at].span.start_ms < span.end_ms:
            texts.append(captions[at].text)
            at += 1
        yield Chunk(n, span, _told(texts)) if texts else Chunk(n, span, None, gap="no_captions")


def _told(texts: Sequence[str]) -> str:
    """Join short texts, each distinct sentence once; of long texts return the middle one."""
    if any(len(text.split()) > LONG_WORDS for text in texts):
        return texts[len(texts) // 2]
    sentences = (part.strip() for text in texts for part in re.split(r"(?<=\.)\s+", text))
    distinct = {sentence.rstrip(".").lower(): sentence.rstrip(".") for sentence in sentences if sentence}
    return ". ".join(distinct.values()) + "."
