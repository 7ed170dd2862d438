"""The pure parts of the bootstrap."""

from __future__ import annotations

from infra.local.bootstrap import CONSTRAINTS, LOCK, fingerprint, without


def test_an_entry_is_stripped_with_its_hashes_and_comments() -> None:

    before = "# head\na==1 \\\n    --hash=sha256:aa\n    # via b\n"
    torch = "torch==2 \\\n    --hash=sha256:tt\n    # via c\n"
    after = "torchx==3 \\\n    --hash=sha256:xx\n"

    assert without(before + torch + after, "torch") == before + after


def test_torch_is_pinned_by_the_constraints_and_not_by_the_lock() -> None:
    assert "\ntorch==" not in LOCK.read_text()
    assert CONSTRAINTS.read_text().startswith("torch==")


def test_the_fingerprint_is_stable() -> None:
    assert fingerprint() == fingerprint()
