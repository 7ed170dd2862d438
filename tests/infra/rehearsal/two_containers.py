"""``python -m tests.infra.rehearsal.two_containers FOLDER``, inside namespaces: print what two containers see, as JSON.

`inward` listens on its loopback, `outward` on all its addresses; both listen on port 8000.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

from infra.rehearsal.containers import Container, Definition, hosts_file
from infra.rehearsal.network import Network, Relay, listen
from infra.rehearsal.sandbox import Bind, Sandbox, account_files

USER = (10001, 10001)
_READS = "import urllib.request, sys; print(urllib.request.urlopen(sys.argv[1], timeout=5).status)"
_WRITES = "import sys; open(sys.argv[1], 'w').write('x')"
_SEES = (
    "import os, json; print(json.dumps([os.getuid(), os.getgid(), os.uname().nodename, sorted(os.listdir('/app'))]))"
)


def main() -> int:
    folder = Path(sys.argv[1])
    network = Network()
    names = ("inward", "outward")
    hosts = hosts_file(folder / "hosts", {network.address(name): [name] for name in names})
    (folder / "app").mkdir()
    (folder / "app" / "page").write_text("shown")
    (folder / "volume").mkdir()
    binds = [Bind(folder / "app", "/app"), Bind(folder / "volume", "/volume", writable=True)]

    def container(name: str, address: str) -> Container:
        etc = account_files(folder / name, USER, "/app") | {"hosts": hosts}
        sandbox = Sandbox(name, USER, "/app", {"PATH": "/usr/local/bin:/usr/bin:/bin", "GIVEN": "1"}, binds, etc=etc)
        command = ("python3", "-m", "http.server", "8000", "--bind", address)
        return Container(Definition(name, sandbox, command, grace_s=5), network, folder)

    inward, outward = container("inward", "127.0.0.1"), container("outward", "0.0.0.0")
    inward.start()
    outward.start()
    # Each server is asked from inside its own container until it listens.
    deadline = time.monotonic() + 60
    for each in (inward, outward):
        while each.execute(["python3", "-c", _READS, "http://127.0.0.1:8000/"]).returncode != 0:
            if time.monotonic() > deadline:
                raise SystemExit(f"{each.name} does not listen: {each.last_lines()}")
            time.sleep(0.2)
    Relay(listen("127.0.0.1", 9000), (network.address("outward"), 8000))

    def works(each: Container, code: str, *arguments: str) -> bool:
        return each.execute(["python3", "-c", code, *arguments]).returncode == 0

    paths = {
        "root": "/x",
        "app": "/app/x",
        "usr": "/usr/lib/x",
        "tmp": "/tmp/x",
        "volume": "/volume/x",
        "shm": "/dev/shm/x",
    }
    seen = {
        "identity": json.loads(inward.execute(["python3", "-c", _SEES]).stdout),
        "environment": inward.execute(["env"]).stdout.splitlines(),
        "loopback_from_another": works(outward, _READS, "http://inward:8000/"),
        "all_addresses_from_another": works(inward, _READS, "http://outward:8000/"),
        "writes": {name: works(inward, _WRITES, path) for name, path in paths.items()},
        "sees_the_checkout": works(inward, "import sys; open(sys.argv[1]).read()", str(Path(__file__).resolve())),
        "reaches_this_machine": works(inward, _READS, f"http://127.0.0.1:{os.environ['PORT_OF_THE_MACHINE']}/"),
        "published": works(outward, _READS, "http://127.0.0.1:8000/"),
        "restarts": [inward.exit_code(), outward.exit_code()],
    }
    inward.stop()
    outward.stop()
    seen["ended"] = [inward.exit_code() is not None, outward.exit_code() is not None]
    print(json.dumps(seen))
    return 0


if __name__ == "__main__":
    sys.exit(main())
