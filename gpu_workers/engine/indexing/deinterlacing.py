"""Whole pictures out of interlaced ones, which hold two moments in alternate lines."""

from __future__ import annotations

from fractions import Fraction

import av
from av.filter import Graph


def deinterlaced(frame: av.VideoFrame) -> av.VideoFrame:
    """Return an interlaced frame as the picture of its first field: the lines of the other field are drawn again."""
    graph = Graph()
    base = frame.time_base or Fraction(1, 1000)
    source = graph.add_buffer(width=frame.width, height=frame.height, format=frame.format, time_base=base)
    graph.link_nodes(source, graph.add("estdif", "mode=frame"), graph.add("buffersink")).configure()
    graph.push(frame)
    # The filter looks one frame ahead. Frames here lie far apart, so each has a graph of its own.
    graph.push(None)
    whole = graph.pull()
    return whole if isinstance(whole, av.VideoFrame) else frame
