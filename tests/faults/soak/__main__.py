"""`make soak MINUTES=n`: mixed load on a whole service. Prints a JSON line per sample, then one per figure."""

from __future__ import annotations

import argparse
import json
import random
import shutil
import statistics
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

from infra.local.leaving import unwind_on_signals
from tests.faults.chaos.customers import CLIPS, Customer, write_clip
from tests.faults.chaos.leftovers import Database
from tests.faults.chaos.receiver import Receiver
from tests.faults.chaos.servers import model_servers
from tests.faults.chaos.service import Service
from tests.faults.chaos.words import Patient
from tests.faults.soak.load import Reads, Worked, work
from tests.faults.soak.samples import Sample, broker_mib, judged, memory_of, rows_of, sessions_of

LIMITS = {"AVA_ADDRESS_RATE_PER_MINUTE": "100000"}
"""All customers come from one address here."""
# Ended jobs leave the queue after a day, by a sweep of each hour: here after ten minutes, by one of five minutes.
_AGE = (
    "UPDATE jobs_job SET completed_at = completed_at - interval '1 day' WHERE state IN ('succeeded', 'canceled') "
    "AND NOT queue LIKE 'system.sweep%%' AND completed_at BETWEEN now() - interval '1 day' "
    "AND now() - interval '10 minutes'",
    "UPDATE jobs_job SET completed_at = completed_at - interval '1 hour' WHERE kind = 'drop_history' "
    "AND state = 'succeeded' AND completed_at BETWEEN now() - interval '1 hour' AND now() - interval '5 minutes'",
)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=120.0)
    parser.add_argument("--every", type=float, default=30.0, help="seconds between two samples")
    options = parser.parse_args(arguments)
    unwind_on_signals()
    root = Path(tempfile.mkdtemp(prefix="ava-soak-"))
    # An unprivileged server process must be able to enter it.
    root.chmod(0o755)
    try:
        return _soak(root, options.minutes * 60, options.every)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _soak(root: Path, seconds: float, every: float) -> int:
    chance, stop, worked = random.Random(0), threading.Event(), Worked()
    with ExitStack() as stack:
        models, _ = stack.enter_context(model_servers(Patient()))
        service = Service(root, models | LIMITS, clocks=None, chance=chance)
        stack.callback(service.stop)
        service.start()
        receiver = Receiver(chance)
        stack.callback(receiver.close)
        customers, keys = [], []
        for slug, scenes in CLIPS.items():
            tenant_id, key = service.new_key(slug)
            clip = write_clip(root / f"{slug}.mp4", scenes)
            customers.append(Customer(slug, tenant_id, service.url, key, clip))
            customers[-1].register(f"{receiver.url}/{slug}")
            keys.append(key)
        threads = [threading.Thread(target=work, args=(one, worked, stop), daemon=True) for one in customers]
        for thread in threads:
            thread.start()
        reads = Reads(service.url, keys, stop)
        database, taken = Database(service.superuser_url), list[float]()
        samples: list[Sample] = []
        began = last = time.monotonic()
        while last - began < seconds:
            time.sleep(max(0.0, min(every, began + seconds - last)))
            service.tend()
            for statement in _AGE:
                database.rows(statement)
            fresh, now = reads.take(), time.monotonic()
            taken += fresh
            samples.append(
                Sample(
                    minutes=round((now - began) / 60, 2),
                    memory_mib=memory_of(service),
                    rows=rows_of(database),
                    sessions=sessions_of(database),
                    broker_mib=broker_mib(service.env["REDIS_URL"]),
                    reads_ms=round(statistics.quantiles(fresh, n=20)[-1] * 1000, 1) if len(fresh) > 1 else 0.0,
                    reads_per_s=round(len(fresh) / (now - last), 1),
                    videos=worked.videos,
                )
            )
            print(json.dumps(asdict(samples[-1])), flush=True)
            last = now
        stop.set()
        figures = list(judged(samples, taken, reads.failed))
        trouble = [*worked.trouble, *([f"{service.restarts} processes died"] if service.restarts else [])]
    for figure in figures:
        print(figure.line(), flush=True)
    for text in trouble:
        print(text, file=sys.stderr, flush=True)
    return 0 if all(figure.holds for figure in figures) and not trouble else 1


if __name__ == "__main__":
    sys.exit(main())
