"""The browser libraries of the player and of the app are the files that vendored.json names, each with its licence."""

from __future__ import annotations

import base64
import hashlib
import json
import tarfile
from pathlib import Path

import pytest

from infra.vendored import FOLDERS, LIST, NotVendored, digest, packages, unpack

in_each_folder = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.parent.name)


@in_each_folder
def test_each_file_has_the_hash_of_the_list_and_no_other_file_lies_there(folder: Path) -> None:
    named = {file["name"]: file["sha256"] for package in packages(folder) for file in package["files"]}

    assert {path.name: digest(path) for path in folder.iterdir() if path.name != LIST} == named


LICENCES = {
    "MIT": "Permission is hereby granted, free of charge",
    "Apache-2.0": "Apache License, Version 2.0",
    "BSD-3-Clause": "in source and binary forms",
}


@in_each_folder
def test_each_package_has_an_exact_version_and_its_licence(folder: Path) -> None:
    for package in packages(folder):
        assert package["version"].replace(".", "").isdigit()
        (licence,) = (file for file in package["files"] if file["name"].endswith(".LICENSE.txt"))
        assert LICENCES[package["licence"]] in (folder / licence["name"]).read_text()


@in_each_folder
def test_the_list_is_as_the_script_writes_it(folder: Path) -> None:
    assert (folder / LIST).read_text() == json.dumps(packages(folder), indent=2) + "\n"


def test_only_an_archive_with_the_hash_of_the_list_is_unpacked(tmp_path: Path) -> None:
    source, archive, out = tmp_path / "a.js", tmp_path / "a.tgz", tmp_path / "out"
    source.write_text("alert(1)")
    out.mkdir()
    with tarfile.open(archive, "w:gz") as packed:
        packed.add(source, "package/dist/a.js")
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    package = {"integrity": integrity, "files": [{"name": "b.js", "from": "dist/a.js"}]}

    with pytest.raises(NotVendored, match="has the hash"):
        unpack(archive, {**package, "integrity": "sha512-AAAA"}, out)
    with pytest.raises(NotVendored, match="has no file dist/c"):
        unpack(archive, {**package, "files": [{"name": "b.js", "from": "dist/c.js"}]}, out)
    assert [*out.iterdir()] == []
    unpack(archive, package, out)
    assert (out / "b.js").read_text() == "alert(1)"
