"""Links to the files of clips, which are noted as delivery when they are given out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from django.utils import timezone

from backend.billing.services.usage.storage import Link, record_links
from backend.clips.models import Clip, ClipStatus
from backend.library.models import Video
from backend.library.services.attribution import attribution_of
from backend.tenancy.callers import current_caller


def note_links(clips: Sequence[Clip]) -> None:
    """Note that the caller is given links to the files of those of these clips that are made."""
    made = [clip for clip in clips if clip.status == ClipStatus.READY]
    if not made:
        return
    caller, videos = current_caller(), Video.objects.in_bulk({clip.video_id for clip in made})
    links = []
    for clip in made:
        of_video = attribution_of(videos[clip.video_id])
        of_caller = replace(of_video, api_key_id=caller.api_key_id, person_id=caller.person_id)
        links.append(Link(clip.id, of_caller, clip.size_bytes))
    record_links(links, at=timezone.now())
