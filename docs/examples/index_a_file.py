"""Index a video file from plain Python and print its Event Knowledge Graph.

    python -m docs.examples.index_a_file traffic.mp4 --profile traffic
    python -m docs.examples.index_a_file traffic.mp4 --objects

The environment's model profile names the models. No database, queue or web framework takes part.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from gpu_workers.engine.ekg import Span, stable_id
from gpu_workers.engine.indexing.assembly import AssemblySettings
from gpu_workers.engine.indexing.audio_tracks import listened_tracks
from gpu_workers.engine.indexing.global_summary import summarise
from gpu_workers.engine.indexing.memory_index import MemoryIndex
from gpu_workers.engine.indexing.pipeline import index_recording
from gpu_workers.engine.indexing.probe import probe
from gpu_workers.engine.indexing.segments import Observation, observe_segment
from gpu_workers.engine.indexing.source import Source
from gpu_workers.engine.models.bindings import load_index_models
from gpu_workers.engine.models.observer.clock import fit_clock_periods
from gpu_workers.engine.models.roles import IndexModels, Meter
from gpu_workers.engine.models.settings import ModelSettings


def index_file(
    path: Path, models: IndexModels, *, profile: str, meter: Meter, settings: AssemblySettings | None = None
) -> MemoryIndex:
    """Return the index of the video at path. settings: how events are made. Raises ProbeError if the file is not a
    video."""
    found = probe(str(path))
    source = Source.of_file(str(path), found.clock, listened_tracks(found.audio_tracks).tracks)
    video_id = stable_id("video", path.resolve())
    index = MemoryIndex(video_id)

    def observe(span: Span) -> Observation:
        return observe_segment(source, span, models, profile=profile, meter=meter)

    index_recording(
        observe, found.duration_ms, models, index, video_id=video_id, profile=profile, meter=meter, settings=settings
    )
    summarise(index, models.narrator, models.text_embedder, profile=profile, meter=meter)
    return index


def print_graph(index: MemoryIndex) -> None:
    """Print events with their mentions and relations, then topics and the overview."""
    names = {entity.id: entity.name for entity in index.entities}
    for record in index.events:
        span = record.event.span
        print(f"\n[{span.start_ms / 1000:7.1f} s to {span.end_ms / 1000:7.1f} s] {record.event.summary}")
        for linked in record.mentions:
            print(f"    {linked.mention.role}: {names[linked.entity_id]} ({linked.mention.type})")
        for relation in record.relations:
            print(f"    {names[relation.source_id]} -- {relation.predicate} --> {names[relation.target_id]}")
    for topic in index.topics:
        span = topic.span
        print(f"\n{topic.title} ({span.start_ms / 1000:.1f} s to {span.end_ms / 1000:.1f} s)\n{topic.summary}")
    if index.overview is not None:
        print(f"\n{index.overview.text}")
    print(f"\n{len(index.events)} events, {len(index.entities)} entities, {len(index.frames)} frames")


def print_objects(index: MemoryIndex) -> None:
    """Print the object memory: every tracked person and object once, with the times at which it is visible."""
    for state in index.objects:
        seen = ", ".join(f"{span.start_ms / 1000:.1f}-{span.end_ms / 1000:.1f} s" for span in state.spans)
        print(
            f"{state.n:3} {state.colour:6} {state.category:12} {seen}; {state.tracks} tracks, "
            f"{state.entries} entries, {state.exits} exits, confidence {state.confidence:g}"
        )
    entries, exits = sum(state.entries for state in index.objects), sum(state.exits for state in index.objects)
    tracks = sum(len(segment.tracks) for segment in index.segments)
    print(f"\n{len(index.objects)} objects of {tracks} tracks, {entries} entries, {exits} exits")
    shown = [((c.span.start_ms + c.span.end_ms) // 2, text) for c in index.chunks for text in c.on_screen_text]
    for period in fit_clock_periods(shown):
        print(f"on-screen clock: {period.at_start} at {period.from_ms / 1000:g} s, by {period.clock.readings} readings")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("video", type=Path)
    parser.add_argument(
        "--profile", default="general", choices=["general", "wildlife", "traffic", "egocentric", "city"]
    )
    parser.add_argument("--objects", action="store_true", help="print the object memory instead of the graph")
    arguments = parser.parse_args()
    meter = Meter()
    models = load_index_models(ModelSettings.from_env())
    index = index_file(arguments.video, models, profile=arguments.profile, meter=meter)
    print_objects(index) if arguments.objects else print_graph(index)
    print(f"{len(meter.calls)} model calls, {sum(call.wall_ms for call in meter.calls) / 1000:.1f} s in models")


if __name__ == "__main__":
    main()
