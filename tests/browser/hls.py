"""A rendition for tests of the player, answered by the browser's own proxy in place of the service."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from infra.local import ffmpeg

SECONDS = 60
CHAPTERS = ("A man waits at the gate", "The dog barks & leaves", "Nobody is there")
KINDS = {".m3u8": "application/vnd.apple.mpegurl", ".mp4": "video/mp4", ".vtt": "text/vtt", ".jpg": "image/jpeg"}


TEST_PICTURE = ("-f", "lavfi", "-i", f"testsrc2=duration={SECONDS}:rate=4:size=320x180")


def make_rendition(folder: Path, picture: Sequence[str] = TEST_PICTURE) -> None:
    """Write SECONDS of fragmented MP4 with its playlist, captions, chapters and a storyboard. picture: the input."""
    sound = ["-f", "lavfi", "-i", f"sine=frequency=300:duration={SECONDS}"]
    coded = ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-preset", "ultrafast", "-g", "8", "-c:a", "aac"]
    pieces = ["-f", "hls", "-hls_time", "6", "-hls_playlist_type", "vod", "-hls_segment_type", "fmp4"]
    one = ["-hls_flags", "single_file", "-hls_segment_filename", "piece.mp4", "index.m3u8"]
    sheet = ["-vf", "fps=1/2,scale=160:90,tile=5x6", "-frames:v", "1", "sheet.jpg"]
    for command in ([*picture, *sound, "-t", str(SECONDS), *coded, *pieces, *one], [*picture, *sheet]):
        subprocess.run([str(ffmpeg.ffmpeg()), "-nostdin", "-v", "error", *command], check=True, cwd=folder)
    length = SECONDS // len(CHAPTERS)
    chapters = [(n * length, (n + 1) * length, text.replace("&", "&amp;")) for n, text in enumerate(CHAPTERS)]
    said = [(at, at + 4, f"said at {at}") for at in range(0, SECONDS, 4)]
    tiles = [(2 * n, 2 * n + 2, f"sheet.jpg#xywh={n % 5 * 160},{n // 5 * 90},160,90") for n in range(SECONDS // 2)]
    for name, cues in (("chapters", chapters), ("captions", said), ("storyboard", tiles)):
        written = "".join(f"\n00:00:{start:02}.000 --> 00:{end // 60:02}:{end % 60:02}.000\n{text}\n"
                          for start, end, text in cues)  # fmt: skip
        (folder / f"{name}.vtt").write_text(f"WEBVTT\n{written}")


def growing(playlist: str, fragments: int) -> str:
    """Return the playlist as it was when only its first fragments were there."""
    begun = playlist.replace("VOD", "EVENT").replace("#EXT-X-ENDLIST\n", "").split("#EXTINF")
    return "#EXTINF".join(begun[: fragments + 1])


def answer_with(page: Any, folder: Path, playlist: Callable[[str], dict[str, Any] | None] = lambda _: None) -> None:
    """Answer the media requests of a page from the folder. playlist: another reply to a playlist's address, or None."""

    def reply(route: Any) -> None:
        address = urlsplit(route.request.url)
        name = address.path.rpartition("/")[2]
        if name.endswith(".m3u8") and (other := playlist(address.path)) is not None:
            route.fulfill(**other)
            return
        content, headers = (folder / name).read_bytes(), {"Content-Type": KINDS[Path(name).suffix]}
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", route.request.headers.get("range", ""))
        if asked is None:
            route.fulfill(body=content, headers=headers)
            return
        start, end = int(asked[1]), min(int(asked[2]), len(content) - 1)
        headers["Content-Range"] = f"bytes {start}-{end}/{len(content)}"
        route.fulfill(status=206, body=content[start : end + 1], headers=headers)

    page.route("**/v1/videos/**", reply)
