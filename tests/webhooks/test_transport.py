"""Requests to addresses that customers name: which are refused, and that the request goes to the checked address."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import pytest

from backend.outbound import addresses, async_transport, transport
from backend.outbound.addresses import TransportError, check_url, is_public
from tests.webhooks.receiver import receiving

FORBIDDEN = [
    "10.1.2.3", "172.16.0.1", "192.168.1.1", "127.0.0.1", "169.254.169.254", "100.64.0.1", "224.0.0.1", "0.0.0.0",
    "240.0.0.1", "255.255.255.255", "192.0.2.1", "198.18.0.1", "::1", "::", "fe80::1", "fc00::1", "ff02::1",
    "::ffff:10.0.0.1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "2002:7f00:1::", "2001:db8::1",
    "2001:0:1::1", "fd00:ec2::254", "fec0::1", "3fff::1", "168.63.129.16", "192.0.0.192", "::7f00:1", "5f00::1",
]  # fmt: skip


def resolving(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[str]:
    """Script a resolver whose nth look-up gets the nth answer. Returns the names that are looked up."""
    asked: list[str] = []
    script = list(answers)
    real = socket.getaddrinfo

    def getaddrinfo(host: str, port: int, *rest: Any, **named: Any) -> list[Any]:
        if host[0].isdigit():
            # Opening a socket to a literal address also calls this function.
            return list(real(host, port, *rest, **named))
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in script.pop(0)]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return asked


@pytest.mark.parametrize("address", FORBIDDEN)
def test_an_address_that_is_not_on_the_internet_is_not_public(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("address", ["93.184.215.14", "1.1.1.1", "2606:4700:4700::1111", "::ffff:1.1.1.1"])
def test_an_address_on_the_internet_is_public(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("http://example.com/", "invalid_url"),
        ("ftp://example.com/", "invalid_url"),
        ("https://user:word@example.com/", "invalid_url"),
        ("https://example.com:22/", "invalid_url"),
        ("https://example.com:99999/", "invalid_url"),
        ("https:///path", "invalid_url"),
        ("https://exa mple.com/", "invalid_url"),
        ("https://example.com/\0", "invalid_url"),
        ("https://example.com/\ud800", "invalid_url"),
        ("https://postgres/", "address_refused"),
        ("https://127.0.0.1/", "address_refused"),
        ("https://[::1]/", "address_refused"),
        ("https://[::ffff:10.0.0.1]/", "address_refused"),
        ("https://localhost/", "address_refused"),
        ("https://metadata.google.internal/", "address_refused"),
        ("https://LOCALHOST./", "address_refused"),
    ],
)
def test_a_url_that_may_not_be_called_is_refused(url: str, code: str) -> None:
    with pytest.raises(TransportError) as refused:
        check_url(url, allow_private=False)
    assert refused.value.code == code


@pytest.mark.parametrize("notation", ["2130706433", "0x7f.1", "0177.0.0.1", "127.1"])
def test_other_notations_of_a_private_address_are_refused_once_resolved(notation: str) -> None:
    with pytest.raises(TransportError) as refused:
        addresses.resolve(notation, 443, allow_private=False)
    assert refused.value.code in {"address_refused", "unresolvable"}


def test_one_private_address_among_public_ones_refuses_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, ["93.184.215.14", "10.0.0.1"])

    with pytest.raises(TransportError) as refused, transport.request("POST", "https://example.com/", headers={}):
        pytest.fail("no request may be made")
    assert refused.value.code == "unresolvable"


def test_a_name_inside_is_refused_like_a_name_that_does_not_exist(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Otherwise the reasons would list the names of the operator's network. The log has the reason without a name."""
    resolving(monkeypatch, ["10.0.0.1"])
    with caplog.at_level("INFO", logger="ava.outbound"), pytest.raises(TransportError) as inside:
        addresses.resolve("db.corp.example", 443, allow_private=False)

    def unknown(*_: Any, **__: Any) -> None:
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(TransportError) as absent:
        addresses.resolve("nothing.corp.example", 443, allow_private=False)

    assert (inside.value.code, str(inside.value)) == (absent.value.code, str(absent.value))
    assert "corp" not in str(inside.value)
    assert "a host that a customer named has an address that is not public" in caplog.text
    assert "corp" not in caplog.text and "10.0.0.1" not in caplog.text  # noqa: PT018


@pytest.mark.parametrize(
    ("url", "requested"),
    [
        ("https://bücher.example/x", "https://xn--bcher-kva.example/x"),
        ("https://example.com/vidéo.mp4?n=ä", "https://example.com/vid%C3%A9o.mp4?n=%C3%A4"),
        ("https://EXAMPLE.com", "https://example.com/"),
        ("https://example.com:8443/a%20b?x=1&y=%2F", "https://example.com:8443/a%20b?x=1&y=%2F"),
        ("https://[2606:4700:4700::1111]/x#part", "https://[2606:4700:4700::1111]/x"),
    ],
)
def test_a_url_goes_over_the_wire_in_ascii(url: str, requested: str) -> None:
    assert check_url(url, allow_private=False).url == requested


def test_an_international_name_and_path_are_called(monkeypatch: pytest.MonkeyPatch) -> None:
    with receiving(200, 200) as receiver:
        asked = resolving(monkeypatch, ["127.0.0.1"], ["127.0.0.1"])
        port = urlsplit(receiver.url).port
        url = f"http://bücher.example:{port}/vidéo.mp4?n=ä"
        with transport.request("POST", url, headers={}, allow_private=True) as response:
            assert response.status == 200
        assert reply_to(url, allow_private=True).status == 200

    assert asked == ["xn--bcher-kva.example"] * 2
    assert {request.path for request in receiver.received} == {"/vid%C3%A9o.mp4?n=%C3%A4"}
    assert {request.headers["host"] for request in receiver.received} == {f"xn--bcher-kva.example:{port}"}


def test_the_checked_address_is_called_under_the_original_name(monkeypatch: pytest.MonkeyPatch) -> None:
    with receiving(200) as receiver:
        port = urlsplit(receiver.url).port
        # A second look-up would get another answer; there must be none.
        asked = resolving(monkeypatch, ["127.0.0.1"], ["192.0.2.1"])
        url = f"http://receiver.example:{port}/hook?a=1"
        with transport.request("POST", url, headers={}, content=b"{}", allow_private=True) as response:
            assert (response.status, response.address) == (200, "127.0.0.1")
            assert response.excerpt(4) == b"said"

    assert asked == ["receiver.example"]
    assert receiver.received[0].headers["host"] == f"receiver.example:{port}"
    assert receiver.received[0].path == "/hook?a=1"


def test_the_next_address_is_tried_when_one_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    with receiving(200) as receiver:
        # Nothing listens on the receiver's port at 127.0.0.2.
        resolving(monkeypatch, ["127.0.0.2", "127.0.0.1"])
        url = receiver.url.replace("127.0.0.1", "receiver.example")
        with transport.request("POST", url, headers={}, allow_private=True) as response:
            assert response.address == "127.0.0.1"


def test_a_receiver_that_never_answers_is_given_up_at_the_deadline() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        with (
            pytest.raises(TransportError) as late,
            transport.request("POST", url, headers={}, timeout_s=0.2, allow_private=True),
        ):
            pytest.fail("there is no response")
    assert late.value.code == "timeout"


def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    with (
        receiving(200) as receiver,
        transport.request("POST", receiver.url, headers={}, allow_private=True) as response,
    ):
        assert response.status == 200


# --- the same on an event loop, and the resolver's part of the deadline -----------------------------------------------


def reply_to(url: str, **options: Any) -> async_transport.Reply:
    return asyncio.run(async_transport.request("POST", url, headers={}, content=b"{}", **options))


def test_on_a_loop_the_checked_address_is_called_under_the_original_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with receiving(200) as receiver:
        asked = resolving(monkeypatch, ["127.0.0.1"], ["192.0.2.1"])
        url = receiver.url.replace("127.0.0.1", "receiver.example")
        reply = reply_to(f"{url}?a=1", allow_private=True, keep_bytes=4)

    assert (reply.status, reply.address, reply.beginning) == (200, "127.0.0.1", b"said")
    assert asked == ["receiver.example"]
    assert receiver.received[0].headers["host"].startswith("receiver.example:")
    assert receiver.received[0].path == "/hook?a=1"


def test_on_a_loop_one_private_address_refuses_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, ["93.184.215.14", "10.0.0.1"])
    with pytest.raises(TransportError) as refused:
        reply_to("https://example.com/")
    assert refused.value.code == "unresolvable"


@pytest.mark.parametrize("notation", ["2130706433", "0x7f.1", "127.1", "[::ffff:7f00:1]"])
def test_on_a_loop_other_notations_of_a_private_address_are_refused(notation: str) -> None:
    with pytest.raises(TransportError) as refused:
        reply_to(f"https://{notation}/")
    assert refused.value.code in {"address_refused", "unresolvable"}


def test_on_a_loop_a_redirect_is_an_answer_and_the_next_address_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    with receiving(replies=[(302, {"location": "http://10.0.0.1/"}, b"")]) as receiver:
        resolving(monkeypatch, ["127.0.0.2", "127.0.0.1"])
        reply = reply_to(receiver.url.replace("127.0.0.1", "receiver.example"), allow_private=True)

    assert (reply.status, reply.headers["location"]) == (302, "http://10.0.0.1/")


def test_on_a_loop_a_body_that_stops_is_kept_as_far_as_it_came() -> None:
    def answer(server: socket.socket) -> None:
        connection, _ = server.accept()
        connection.recv(65_536)
        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nbegun")
        given_up.wait(60)
        connection.close()

    given_up = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=answer, args=(server,))
        thread.start()
        reply = reply_to(f"http://127.0.0.1:{server.getsockname()[1]}/", allow_private=True, timeout_s=0.5)
        given_up.set()
        thread.join()

    assert (reply.status, reply.beginning) == (200, b"begun")


@pytest.fixture
def silent_resolver(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    answered = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: answered.wait() and [])
    yield
    answered.set()


@pytest.mark.usefixtures("silent_resolver")
def test_a_resolver_that_never_answers_is_given_up_at_the_deadline() -> None:
    with (
        pytest.raises(TransportError) as late,
        transport.request("POST", "https://example.com/", headers={}, timeout_s=0.1),
    ):
        pytest.fail("there is no response")
    assert (late.value.code, "example.com" in str(late.value)) == ("timeout", False)
    with pytest.raises(TransportError) as late:
        reply_to("https://example.com/", timeout_s=0.1)
    assert (late.value.code, "example.com" in str(late.value)) == ("timeout", False)
