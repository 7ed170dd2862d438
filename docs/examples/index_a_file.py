"""Index a video file from plain Python and print its Event Knowledge Graph.

    python -m docs.examples.index_a_file traffic.mp4 --profile traffic

The models are those of the environment's model profile; ffmpeg and ffprobe are FFMPEG_BINARY and FFPROBE_BINARY, or
those of the system. No database, queue or web framework takes part.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from gpu_workers.ekg import Span, stable_id
from gpu_workers.indexing.memory_index import MemoryIndex
from gpu_workers.indexing.pipeline import index_recording
from gpu_workers.indexing.probe import probe
from gpu_workers.indexing.segments import Observation, Source, observe_segment
from gpu_workers.models.profiles import ModelSettings, load_index_models
from gpu_workers.models.roles import IndexModels, Meter


def index_file(path: Path, models: IndexModels, *, profile: str, meter: Meter) -> MemoryIndex:
    """The index of the video at path. Raises ProbeError when it is not one."""
    found = probe(str(path), ffprobe=os.environ.get("FFPROBE_BINARY", "ffprobe"))
    source = Source.of_file(
        str(path), found.source_start_ms, found.has_audio, os.environ.get("FFMPEG_BINARY", "ffmpeg")
    )
    video_id = stable_id("video", path.resolve())
    index = MemoryIndex(video_id)

    def observe(span: Span) -> Observation:
        return observe_segment(source, span, models, profile=profile, meter=meter)

    index_recording(observe, found.duration_ms, models, index, video_id=video_id, profile=profile, meter=meter)
    return index


def print_graph(index: MemoryIndex) -> None:
    names = {entity.id: entity.name for entity in index.entities}
    for record in index.events:
        span = record.event.span
        print(f"\n[{span.start_ms / 1000:7.1f} s to {span.end_ms / 1000:7.1f} s] {record.event.summary}")
        for linked in record.mentions:
            print(f"    {linked.mention.role}: {names[linked.entity_id]} ({linked.mention.type})")
        for relation in record.relations:
            print(f"    {names[relation.source_id]} -- {relation.predicate} --> {names[relation.target_id]}")
    print(f"\n{len(index.events)} events, {len(index.entities)} entities, {len(index.frames)} frames")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("video", type=Path)
    parser.add_argument(
        "--profile", default="general", choices=["general", "wildlife", "traffic", "egocentric", "city"]
    )
    arguments = parser.parse_args()
    meter = Meter()
    models = load_index_models(ModelSettings.from_env())
    print_graph(index_file(arguments.video, models, profile=arguments.profile, meter=meter))
    print(f"{len(meter.calls)} model calls, {sum(call.wall_ms for call in meter.calls) / 1000:.1f} s in models")


if __name__ == "__main__":
    main()
