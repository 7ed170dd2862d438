"""Write infra/presets/*.env and the chart's presets from the model table: `make presets`."""

from __future__ import annotations

import sys

from gpu_workers.engine.models.model_table import table
from infra.presets import chart, environment


def main() -> int:
    """Write two files per preset, and remove files of presets that the table no longer has."""
    models = table()
    files = {environment.FOLDER / f"{each.name}.env": environment.rendered(each) for each in models.presets.values()}
    files |= {chart.FOLDER / f"{each.name}.yaml": chart.rendered(each, models) for each in models.presets.values()}
    chart.FOLDER.mkdir(exist_ok=True)
    for stale in {*environment.FOLDER.glob("*.env"), *chart.FOLDER.glob("*.yaml")} - set(files):
        stale.unlink()
    for path, text in files.items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
