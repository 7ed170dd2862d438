"""Routes of playback."""

from __future__ import annotations

from backend.playback.api import renditions, side_tracks

routes = [*side_tracks.routes, *renditions.routes]
