"""`make demo`: index a real video and ask it questions, through the REST API only.

VIDEO, QUESTION and CHOICES (separated by "|") come from the environment. A video that is already indexed is asked again
without indexing; FRESH=1 deletes it and indexes it again. COMPARE=1 asks the last question by a second method, too. All
results are saved under .local/demo.
"""

from __future__ import annotations

import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ava_cloud.errors import AvaError, Unreachable

from infra.local.demo.progress import Stages
from infra.local.demo.run import Demo, DemoFailed, video_file
from infra.local.demo.running_service import RunningService
from infra.local.errors import StackError

OUT = Path(".local/demo")
COLD_LIMIT_S, WARM_LIMIT_S = 480, 180


def main() -> int:
    started = float(os.environ.get("AVA_STARTED") or time.time())
    try:
        # The video is fetched while the service starts.
        with Stages() as stages, ThreadPoolExecutor(1) as pool:
            file = pool.submit(video_file, stages.say)
            with RunningService(stages) as service:
                with stages.during("fetching the video"):
                    video = file.result()
                result = Demo(service, stages, OUT).run(video)
    except Unreachable as error:
        print(f"demo failed: the service does not answer any more ({error}); see .local/log", file=sys.stderr)
        return 1
    except (DemoFailed, AvaError, StackError) as error:
        print(f"demo failed: {error}", file=sys.stderr)
        return 1
    wall_s = time.time() - started
    times = remember(wall_s, full=not result["index"]["reused"])
    print(f"\nSaved {OUT / 'result.json'} and the evidence frames next to it.")
    factor = result["index"]["realtime_factor"]
    print(f"Indexing ran at {factor:.2f}x real time; this run took {wall_s:.0f} s, including all set-up.")
    for name, limit in (("cold", COLD_LIMIT_S), ("warm", WARM_LIMIT_S)):
        if name in times:
            print(f"  {name} run: {times[name]:.0f} s (target: at most {limit} s)")
    return 0


def remember(wall_s: float, *, full: bool) -> dict[str, float]:
    """Record the run's time: the first complete run of a checkout is its cold run, later ones are its warm run."""
    file = OUT / "wall_s.json"
    times: dict[str, float] = json.loads(file.read_text()) if file.exists() else {}
    if full:
        times["warm" if "cold" in times else "cold"] = wall_s
        file.write_text(json.dumps(times))
    return times


if __name__ == "__main__":
    sys.exit(main())
