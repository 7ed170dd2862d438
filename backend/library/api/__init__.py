"""The routes of uploads, videos, input segments and collections."""

from backend.library.api import collections, input_segments, uploads, videos

routes = [*uploads.routes, *videos.routes, *input_segments.routes, *collections.routes]
