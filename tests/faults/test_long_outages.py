"""Model servers away for half an hour, and a wrong key: work waits and goes on, and nobody pays for it."""

from __future__ import annotations

import pytest

from tests.faults.test_chaos import chaos

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3_600)]


@pytest.mark.parametrize("scenario", ["models-away", "wrong-key-of-describer", "wrong-key-of-reasoner"])
def test_an_outage_of_the_models_is_no_failure_and_no_gap(scenario: str) -> None:
    done = chaos("--scenario", scenario)
    assert done.stdout.rstrip().endswith("1 passed, 0 failed"), done.stdout[-4000:] + done.stderr[-2000:]
    assert done.returncode == 0
