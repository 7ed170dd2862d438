"""The calls of a node belong to the question: they are counted there, and carry its tenant's salt."""

from __future__ import annotations

from gpu_workers.engine.answering.budget import BranchMeter
from gpu_workers.engine.models.roles import Meter, ModelCall


def test_a_call_of_a_node_is_counted_on_both_meters_and_carries_the_salt() -> None:
    trunk = Meter("acme")
    branch = BranchMeter(trunk)
    inner = BranchMeter(branch)

    inner.record(ModelCall("answer", "scripted", 5))

    assert [len(meter.calls) for meter in (trunk, branch, inner)] == [1, 1, 1]
    assert (branch.cache_salt, inner.cache_salt) == ("acme", "acme")
