"""Retries the index of a video in place: everything that failed, or one segment."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from backend.api.public_ids import parse
from backend.library.indexing import control
from backend.library.queries import find_video
from backend.tenancy.context import tenant_scope
from backend.tenancy.management.tenant_command import TenantCommand
from backend.tenancy.refusals import Refused


class Command(TenantCommand):
    help = (
        "Do again what failed in the index of a video, with the same version and the same ids. A segment that is named "
        "is observed again, whether it failed or not, and the gaps of other segments stay."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="the tenant")
        parser.add_argument("video", help="the id of the video, such as vid_…")
        parser.add_argument("--segment", type=int, help="the number of the only segment to retry, as the console shows")

    def handle(self, *args: Any, **options: Any) -> None:
        tenant = self.tenant(options)
        segment = options["segment"]
        video_id = parse("vid", options["video"])
        try:
            with tenant_scope(tenant.id):
                if video_id is None or find_video(video_id) is None:
                    raise CommandError(f"The tenant has no video {options['video']}.")
                if segment is None:
                    control.retry_indexing(video_id=video_id)
                else:
                    control.retry_segment(video_id=video_id, n=segment)
        except Refused as refused:
            raise CommandError(f"{refused.code}: {refused.detail}") from refused
        self.stdout.write(f"{options['video']}: {'the index' if segment is None else f'segment {segment}'} is retried")
