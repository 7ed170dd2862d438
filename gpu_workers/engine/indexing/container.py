"""The files that are accepted as video: known containers by their first bytes, never by name or by ffmpeg's guess.

ffmpeg can open playlists, images, scripts and capture devices, and several of those make it open further files. So
the container is passed to it, and it runs in a box that can open nothing.
"""

from __future__ import annotations

RESYNC_PACKETS = 20
"""Number of packets of a transport stream that must follow each other where the first one is cut."""
HEAD_BYTES = 64 * 1024
"""Number of bytes at a file's beginning that sniff_container() looks at."""

FORMATS = ("mov", "matroska", "avi", "mpegts", "mpeg", "flv", "ogg", "gif")
"""Names, in ffmpeg, of the demuxers that may run."""

MAX_STREAMS = 16
"""Maximum number of streams of a file."""

_MOV_BOXES = (b"ftyp", b"moov", b"mdat", b"free", b"skip", b"wide", b"pnot")
_IMAGE_BRANDS = (b"avif", b"avis", b"heic", b"heix", b"hevc", b"heim", b"heis", b"mif1", b"msf1", b"jpeg")
_PLAYLIST_STARTS = ("#extm3u", "ffconcat", "[playlist]", "<mpd", "<smoothstreamingmedia", "<asx")


class ProbeError(Exception):
    """A file cannot be indexed. code is stable, message is for the customer, retryable says whether to try again.

    Codes: empty_file, not_a_video, playlist_refused, truncated, no_video_stream, no_frames, duration_unknown,
    too_long, too_large, too_many_pixels, too_many_streams, frame_rate_too_high, too_few_packets; unreachable,
    probe_timeout and decoder_unavailable are the ones that may be retryable.
    """

    def __init__(self, code: str, message: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retryable = retryable


class SourceUnreachable(Exception):
    """The bytes cannot be fetched. message: for the customer, without the address. retryable: whether to try again."""

    def __init__(self, message: str, *, retryable: bool = True) -> None:
        super().__init__(message)
        self.message, self.retryable = message, retryable


class SourceUnreadable(Exception):
    """The bytes could not be fetched: a fault of the store or the network, not of the video. Retrying may help."""

    code = "source_unreadable"
    retryable = True


class DecodingFailed(SourceUnreadable):
    """The decoder ended at its limits or by a fault of its own; the same bytes would end it again."""

    code = "source_undecodable"
    retryable = False


class DecoderUnavailable(SourceUnreadable):
    """This host killed the decoder, or could not start it: a fault of the host, not of the video."""

    code = "decoder_unavailable"
    retryable = True


class DeviceUnavailable(DecoderUnavailable):
    """This host cannot confine a decoder that uses a graphics device. It may be able to without one."""


def sniff_container(head: bytes) -> str:
    """Return the name (one of FORMATS) of the container that a file's first bytes show.

    head: the first HEAD_BYTES of the file, or all of a shorter one. Raises ProbeError with code empty_file,
    playlist_refused or not_a_video.
    """
    head = head[:HEAD_BYTES]
    if not head:
        raise ProbeError("empty_file", "The file is empty.")
    if head[4:8] in _MOV_BOXES and head[8:12] not in _IMAGE_BRANDS:
        return "mov"
    if head.startswith(b"\x1a\x45\xdf\xa3"):
        return "matroska"
    if head.startswith(b"RIFF") and head[8:12] in (b"AVI ", b"AVIX"):
        return "avi"
    if head.startswith(b"FLV\x01"):
        return "flv"
    if head.startswith(b"OggS"):
        return "ogg"
    if head.startswith(b"\x00\x00\x01\xba"):
        return "mpeg"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "gif"
    if _is_transport_stream(head):
        return "mpegts"
    _refuse_playlist(head)
    raise ProbeError(
        "not_a_video",
        "The file is not a video we can read (MP4, MOV, MKV, WebM, AVI, MPEG-TS, MPEG-PS, FLV, Ogg or GIF).",
    )


def is_url(source: str) -> bool:
    return source.startswith(("http://", "https://"))


def _is_transport_stream(head: bytes) -> bool:
    """Whether sync bytes 0x47 come every 188 bytes, or every 192 after a 4-byte time code (M2TS).

    A recording that was cut within a packet begins with the rest of it; then more packets must agree.
    """
    for first, step in ((0, 188), (4, 192)):
        marks = head[first : first + 5 * step : step]
        if len(marks) >= 3 and set(marks) == {0x47}:
            return True
    return any(
        set(head[first : first + RESYNC_PACKETS * step : step]) == {0x47}
        for step in (188, 192)
        for first in range(min(step, len(head) - RESYNC_PACKETS * step))
    )


def _refuse_playlist(head: bytes) -> None:
    text = head[:4096].decode("utf-8", errors="replace").lstrip("\ufeff \t\r\n").lower()
    if text.startswith(_PLAYLIST_STARTS) or (text.startswith("<?xml") and any(s in text for s in _PLAYLIST_STARTS[3:])):
        raise ProbeError("playlist_refused", "The file is a playlist; upload the video itself.")
