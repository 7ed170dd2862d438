"""Check the invariants of indexes; prints one line per index and exits with 1 if any has a fault."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from backend.api.public_ids import encode, parse
from backend.ekg.invariants import index_faults, rebuild_graph
from backend.library.models import Video, VideoStatus
from backend.tenancy.context import tenant_scope


class Command(BaseCommand):
    help = "Check the active index of ready videos; --rebuild-graph makes a graph that differs again from the rows."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--video", help="check only this video (vid_…)")
        parser.add_argument("--rebuild-graph", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        # No tenant is entered yet: the dispatch role finds the videos, and each is read as its own tenant.
        ready = Video.unscoped.using("dispatch").filter(status=VideoStatus.READY).order_by("id")
        if options["video"]:
            ready = ready.filter(id=_video_id(options["video"]))
        wrong = 0
        for video_id, tenant_id in ready.values_list("id", "tenant_id").iterator():
            with tenant_scope(tenant_id):
                video = Video.objects.get(id=video_id)
                version = video.active_index_version
                faults = index_faults(video, version)
                if faults and options["rebuild_graph"]:
                    rebuild_graph(video.id, version)
                    faults = index_faults(video, version)
            wrong += bool(faults)
            self.stdout.write(f"{encode('vid', video_id)} version {version}: {'; '.join(faults) or 'ok'}")
        if wrong:
            raise CommandError(f"{wrong} indexes have faults")


def _video_id(text: str) -> UUID:
    video_id = parse("vid", text)
    if video_id is None:
        raise CommandError(f"not a video id: {text}")
    return video_id
