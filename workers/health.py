"""The health check of a worker's container: `python -m workers.health` exits with 0 if a task can run there.

It asks no Celery and starts no Django: it reads what the processes that run tasks say of themselves
(workers.liveness), and asks the broker whether the consumer has a reason to stand still. `--relay` asks the same of a
relay: it is well while passes of its loop succeed. `--signer PORT` asks whether the signer here answers.
"""

from __future__ import annotations

import argparse
import http.client
import os
import sys
import time

import redis

from workers.liveness import RelayState, living_workers, state_folder


def broker_answers() -> bool:
    """Whether the broker in REDIS_URL answers within seconds."""
    try:
        with redis.Redis.from_url(os.environ["REDIS_URL"], socket_timeout=3, socket_connect_timeout=3) as broker:
            return bool(broker.ping())
    except (redis.RedisError, OSError):
        return False


def faults() -> list[str]:
    """Return the faults of the workers of this machine or container; no worker at all is a fault too."""
    alive = living_workers(state_folder())
    if not alive:
        return ["no worker runs here"]
    answers, now = broker_answers(), time.monotonic()
    return [fault for state in alive if (fault := state.fault(now, broker_answers=answers))]


def relay_faults() -> list[str]:
    """Return the faults of the relays of this machine or container; no relay at all is a fault too."""
    found = [RelayState.read(file) for file in sorted(state_folder().glob("relay-*.json"))]
    alive = [state for state in found if state is not None]
    if not alive:
        return ["no pass of a relay has succeeded here"]
    return [fault for state in alive if (fault := state.fault(time.monotonic()))]


def signer_faults(port: int) -> list[str]:
    """Return the fault of the signer at this port of this machine or container."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/")
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        return [f"the signer does not answer: {type(error).__name__}"]
    finally:
        connection.close()
    return [] if status == 200 else [f"the signer answers {status}"]


def main() -> int:
    """Print each fault. Exit status 1 if there is any."""
    parser = argparse.ArgumentParser(prog="python -m workers.health", description=main.__doc__)
    parser.add_argument("--relay", action="store_true", help="ask the relay here, not the worker")
    parser.add_argument("--signer", type=int, metavar="PORT", help="ask the signer here, not the worker")
    asked = parser.parse_args()
    if asked.signer is not None:
        found = signer_faults(asked.signer)
    elif asked.relay:
        found = relay_faults()
    else:
        found = faults()
    for fault in found:
        print(fault)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
