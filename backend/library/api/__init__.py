"""The routes of uploads, videos, input segments, collections, storage and retention."""

from backend.library.api import collections, data, input_segments, uploads, videos

routes = [*uploads.routes, *videos.routes, *input_segments.routes, *collections.routes, *data.routes]
