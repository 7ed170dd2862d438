"""The routes of uploads, videos, input segments, collections, storage, retention, limits and estimates."""

from backend.library.api import collections, data, estimates, input_segments, limits, uploads, videos

routes = [
    *uploads.routes,
    *estimates.routes,
    *videos.routes,
    *input_segments.routes,
    *collections.routes,
    *data.routes,
    *limits.routes,
]
