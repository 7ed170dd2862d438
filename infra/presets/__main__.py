"""Write infra/presets/*.env from the model table: `make presets`."""

from __future__ import annotations

import sys

from gpu_workers.engine.models.model_table import table
from infra.presets.environment import FOLDER, rendered


def main() -> int:
    """Write one file per preset, and remove files of presets that the table no longer has."""
    files = {FOLDER / f"{preset.name}.env": rendered(preset) for preset in table().presets.values()}
    for stale in set(FOLDER.glob("*.env")) - set(files):
        stale.unlink()
    for path, text in files.items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
