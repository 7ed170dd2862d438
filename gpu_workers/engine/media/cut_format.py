"""The file between cutting and encoding: packets in the NUT format, which takes every codec and exact times."""

LATER_MS = 60_000
"""Milliseconds that are added to every time in the file, since NUT has no negative ones: decoding begins before 0."""
