"""``python -m infra.clients`` writes the generated parts of both clients, and the collection of requests, again from
openapi.yaml."""

from __future__ import annotations

import sys

from infra.clients import postman_collection, python_client, typescript_client
from infra.clients.running import GenerationFailed


def main() -> int:
    try:
        python_client.generate(python_client.PACKAGE)
        typescript_client.generate(typescript_client.PACKAGE)
        postman_collection.generate()
    except GenerationFailed as error:
        print(f"clients: ERROR {error}", file=sys.stderr)
        return 1
    print("clients: both clients and the collection belong to openapi.yaml")
    return 0


if __name__ == "__main__":
    sys.exit(main())
