"""The snippets of the documentation verify what the service signs, and refuse everything else."""

from __future__ import annotations

import base64
import importlib.util
import json
import re
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import playwright
import pytest

from backend.webhooks.signing import new_secret, signed_headers

DOCS = Path(__file__).parents[2] / "docs"
SNIPPETS = DOCS / "examples" / "webhooks"
# The Node that comes with Playwright runs TypeScript as it is.
NODE = Path(playwright.__file__).parent / "driver" / "node"
_RUN = """
import { verify } from %s;
const each = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
try {
  console.log(JSON.stringify({event: verify(each.secret, each.headers, Buffer.from(each.body, "base64"), each.now)}));
} catch (error) {
  console.log(JSON.stringify({refused: error.message}));
}
"""
BODY = '{"type":"video.ready","timestamp":"2026-11-22T20:00:00.000Z","sequence":1,"data":{"id":"長い"}}'
AT = datetime(2026, 11, 22, 20, 0, tzinfo=UTC)

Verify = Callable[[str, dict[str, str], bytes, float], Any]


def by_python(secret: str, headers: dict[str, str], body: bytes, now: float) -> Any:
    spec = importlib.util.spec_from_file_location("verify_webhook", SNIPPETS / "verify_webhook.py")
    assert spec is not None
    assert spec.loader is not None
    snippet = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(snippet)
    try:
        return snippet.verify(secret, headers, body, now=now)
    except snippet.InvalidWebhook as error:
        return str(error)


def by_typescript(secret: str, headers: dict[str, str], body: bytes, now: float) -> Any:
    said = {"secret": secret, "headers": headers, "body": base64.b64encode(body).decode(), "now": now}
    script = _RUN.replace('require("node:fs")', 'process.getBuiltinModule("node:fs")') % json.dumps(
        (SNIPPETS / "verify_webhook.ts").as_uri()
    )
    done = subprocess.run(
        [NODE, "--input-type=module", "--eval", script],
        input=json.dumps(said),
        capture_output=True,
        text=True,
        check=True,
    )
    reply = json.loads(done.stdout)
    return reply.get("event", reply.get("refused"))


@pytest.mark.parametrize("verify", [by_python, by_typescript])
def test_a_signed_request_is_accepted_and_an_altered_one_refused(verify: Verify) -> None:
    secret, old = new_secret(), new_secret()
    headers = signed_headers(message_id="msg_1", body=BODY, secrets=[secret, old], at=AT)
    now = AT.timestamp()

    assert verify(secret, headers, BODY.encode(), now + 299) == json.loads(BODY)
    assert verify(old, headers, BODY.encode(), now - 299) == json.loads(BODY)
    wrong = "no signature fits the body and the secret"
    assert verify(new_secret(), headers, BODY.encode(), now) == wrong
    assert verify(secret, headers, BODY.replace("ready", "failed").encode(), now) == wrong
    assert verify(secret, {**headers, "webhook-id": "msg_2"}, BODY.encode(), now) == wrong
    assert verify(secret, headers, BODY.encode(), now + 301) == "the timestamp is too far from now"
    missing = {name: value for name, value in headers.items() if name != "webhook-signature"}
    assert verify(secret, missing, BODY.encode(), now) == "a header is missing or malformed"


def test_the_snippet_of_the_guide_accepts_a_signed_request_and_refuses_an_altered_or_old_one() -> None:
    (snippet,) = re.findall(r"^```python\n(.*?)^```$", (DOCS / "api.md").read_text(), re.DOTALL | re.MULTILINE)
    guide: dict[str, Any] = {}
    exec(snippet, guide)
    secret, old, now = new_secret(), new_secret(), datetime.now(UTC)
    headers = signed_headers(message_id="msg_1", body=BODY, secrets=[secret, old], at=now)
    stale = signed_headers(message_id="msg_1", body=BODY, secrets=[secret], at=AT)

    assert guide["verify"](secret, headers, BODY.encode()) == json.loads(BODY)
    assert guide["verify"](old, headers, BODY.encode()) == json.loads(BODY)
    for sent, body, problem in ((headers, BODY + " ", "not signed"), (stale, BODY, "too old")):
        with pytest.raises(ValueError, match=problem):
            guide["verify"](secret, sent, body.encode())
