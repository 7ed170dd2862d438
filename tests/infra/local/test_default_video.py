"""Reading a file out of a Debian package without dpkg."""

from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path

import pytest

from infra.local.default_video import read_from_deb


def _package(path: Path, members: dict[str, bytes], compression: str) -> Path:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode=f"w:{compression}") as archive:  # type: ignore[call-overload]
        for name, content in members.items():
            entry = tarfile.TarInfo(f"./usr/share/doc/{name}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    with path.open("wb") as out:
        out.write(b"!<arch>\n")
        for name, content in (("debian-binary", b"2.0\n"), ("odd", b"x"), (f"data.tar.{compression}", data.getvalue())):
            out.write(f"{name:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(content):<10}`\n".encode() + content)
            out.write(b"\n" * (len(content) % 2))
    return path


@pytest.mark.parametrize("compression", ["xz", "gz", "bz2"])
def test_a_file_is_found_in_any_compression(tmp_path: Path, compression: str) -> None:
    package = _package(tmp_path / "p.deb", {"tree.avi": b"no", "vtest.avi": b"RIFF yes"}, compression)

    assert read_from_deb(package, "vtest.avi") == b"RIFF yes"


def test_a_compressed_file_is_unpacked(tmp_path: Path) -> None:
    package = _package(tmp_path / "p.deb", {"vtest.avi.gz": gzip.compress(b"RIFF yes")}, "xz")

    assert read_from_deb(package, "vtest.avi") == b"RIFF yes"


def test_an_absent_file_is_a_lookup_error(tmp_path: Path) -> None:
    package = _package(tmp_path / "p.deb", {"tree.avi": b"no"}, "gz")

    with pytest.raises(LookupError, match=r"vtest\.avi"):
        read_from_deb(package, "vtest.avi")
