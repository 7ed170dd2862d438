"""Links to the files of clips, which are noted as delivery when they are given out."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils import timezone

from backend.billing.services.usage.storage import Link, record_links
from backend.clips.models import Clip, ClipStatus
from backend.library.models import Video
from backend.library.services.attribution import attribution_to_caller


def note_links(clips: Sequence[Clip]) -> None:
    """Note that the caller is given links to the files of those of these clips that are made."""
    made = [clip for clip in clips if clip.status == ClipStatus.READY]
    if not made:
        return
    videos = Video.objects.in_bulk({clip.video_id for clip in made})
    links = [Link(clip.id, attribution_to_caller(videos[clip.video_id]), clip.size_bytes) for clip in made]
    record_links(links, at=timezone.now())
