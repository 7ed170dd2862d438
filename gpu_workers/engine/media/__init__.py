"""Playback and clips: a part of a recording is cut out of its file, and ffmpeg makes what browsers play of it.

Both run in boxes. `cutting` copies packets, and reads only the bytes of its span; `encoding` runs a graph of
ffmpeg-python on the files of one folder (docs/adr/0054-ffmpeg-graphs-for-playback.md).
"""
