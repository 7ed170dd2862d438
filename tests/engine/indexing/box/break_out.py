"""Starts a box with an intruder in it and prints what the intruder could do: `break_out SECRET_FILE`."""

from __future__ import annotations

import json
import os
import sys

from gpu_workers.engine.indexing.box.boxes import Box


def main() -> None:
    arguments = {"secret_file": sys.argv[1], "worker": os.getpid(), "port": 9}
    gave: dict[str, str] = {}
    with Box("tests.engine.indexing.box.intruder:look_around", arguments, memory_bytes=4096) as box:
        while "done" not in (message := box.receive()):
            gave[message["attempt"]] = message["gave"]
    succeeded = {name: what for name, what in gave.items() if not what.startswith("refused")}
    print(json.dumps({"layers": box.layers, "succeeded": succeeded}))


if __name__ == "__main__":
    main()
