"""The bills of materials of the images name what their locks install."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from infra import image_locks, supply_chain


@pytest.fixture(scope="module")
def bills(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sbom")
    supply_chain.write_bills(folder)
    return folder


@pytest.mark.parametrize("image", image_locks.LOCKS)
def test_a_bill_names_each_package_of_the_image_with_its_hashes(image: str, bills: Path) -> None:
    bill = json.loads((bills / f"{image}.cdx.json").read_text())
    locked = image_locks.lock_of(image).read_text()
    assert bill["metadata"]["component"]["name"] == f"ava/{image}"
    assert {each["name"]: each["version"] for each in bill["components"]} == image_locks.versions(locked)
    hashes = [each["externalReferences"][0]["hashes"] for each in bill["components"]]
    assert all(hashes)
    assert sum(map(len, hashes)) == locked.count("--hash=sha256:")
    (ours,) = (each for each in bill["dependencies"] if each["ref"] == image)
    assert len(ours["dependsOn"]) == len(bill["components"])


def test_base_images_without_a_digest_are_named(tmp_path: Path) -> None:
    digest = "sha256:" + "0" * 64
    (tmp_path / "a.Dockerfile").write_text(
        f"FROM uv:1.0.0@{digest} AS uv\nFROM python:3.11.14-slim AS build\nRUN true\nFROM build\n"
    )
    (tmp_path / "b.Dockerfile").write_text(f"FROM --platform=linux/amd64 debian:trixie-20260824-slim@{digest}\n")

    assert supply_chain.bases_by_tag(tmp_path) == ["python:3.11.14-slim"]
    assert "python:3.11.14-slim-bookworm" in supply_chain.bases_by_tag()
