"""Print the Secrets that the chart reads, as `kubectl apply` takes them: `python3 -m infra.helm > secrets.json`.

Passwords and keys are made. What others have made comes from the environment, because every process of a machine can
read arguments: DATABASE_SUPERUSER_URL, REDIS_URL, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY, and keys of models at a
provider (REASONER_API_KEY, DESCRIBER_API_KEY). Standard library and the program openssl only.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from infra.helm import secret_manifests


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the Secrets; exit status 1 with the reason if something is missing."""
    parser = argparse.ArgumentParser(prog="python3 -m infra.helm", description=__doc__)
    parser.add_argument("--release", default="ava", help="name of the release; by default ava")
    parser.add_argument("--database", default="ava", help="name of the database; by default ava")
    parser.add_argument("--database-ca", type=Path, help="PEM of the certificates that sign the database's")
    parser.add_argument("--own-database", action="store_true", help="for a database that the chart makes")
    options = parser.parse_args(arguments)
    try:
        ca = options.database_ca.read_text() if options.database_ca else ""
        found = secret_manifests.every(
            os.environ, release=options.release, database=options.database, ca=ca, own_database=options.own_database
        )
    except (ValueError, OSError) as error:
        print(f"infra.helm: {error}", file=sys.stderr)
        return 1
    print(json.dumps({"apiVersion": "v1", "kind": "List", "items": found}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
