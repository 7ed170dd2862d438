"""Wheels from the package index that pip or uv is configured with, without either of them: an image has neither.

Read in this order, and the first that has a wheel of the version wins: PIP_FIND_LINKS and UV_FIND_LINKS (folders), the
index (PIP_INDEX_URL, UV_DEFAULT_INDEX, UV_INDEX_URL, pip.conf, else pypi.org), further indexes (PIP_EXTRA_INDEX_URL,
UV_INDEX, pip.conf). PIP_NO_INDEX leaves folders only. PIP_CERT, SSL_CERT_FILE or pip.conf name the certificates.
"""

from __future__ import annotations

import configparser
import os
import re
import shutil
import ssl
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit, urlunsplit
from urllib.request import url2pathname

import httpx

_PYPI = "https://pypi.org/simple"
_ACCEPT = "application/vnd.pypi.simple.v1+json, text/html;q=0.5"
_TRIES = 4
_TIMEOUT = httpx.Timeout(120.0, connect=15.0)


class NoWheel(Exception):
    """No configured place has the wheel, or none could be read."""


@dataclass(frozen=True, slots=True)
class PackageIndex:
    """Where wheels are looked for. folders: with wheels in them. indexes: base URLs of PEP 503 or PEP 691."""

    folders: tuple[Path, ...] = ()
    indexes: tuple[str, ...] = (_PYPI,)
    certificates: str = ""

    @classmethod
    def configured(cls, env: Mapping[str, str] | None = None) -> PackageIndex:
        """Read the configuration of pip and uv."""
        env = os.environ if env is None else env
        file = _pip_conf(env)

        def first(*names: str, option: str) -> str:
            return next((env[name] for name in names if env.get(name)), "") or file.get(option, "")

        links = first("PIP_FIND_LINKS", "UV_FIND_LINKS", option="find-links").replace(",", " ").split()
        folders = tuple(path for path in map(_local, links) if path is not None)
        certificates = first("PIP_CERT", "SSL_CERT_FILE", option="cert")
        if env.get("PIP_NO_INDEX") or env.get("UV_NO_INDEX"):
            return cls(folders, (), certificates)
        main = first("PIP_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL", option="index-url") or _PYPI
        extra = first("PIP_EXTRA_INDEX_URL", "UV_INDEX", "UV_EXTRA_INDEX_URL", option="extra-index-url").split()
        # uv writes NAME=URL.
        urls = [re.sub(r"^[\w-]+=(?=\w+://)", "", url) for url in (main, *extra)]
        return cls(folders, tuple(dict.fromkeys(url.rstrip("/") for url in urls)), certificates)

    def download(self, package: str, version: str, into: Path) -> Path:
        """Download a wheel of a version into a folder and return its path: the pure one, else the first of a platform,
        since only data is read from it. Raises NoWheel."""
        looked: list[str] = []
        for folder in self.folders:
            looked.append(str(folder))
            names = sorted(path.name for path in folder.glob("*.whl")) if folder.is_dir() else []
            if name := _wheel_of(names, package, version):
                return Path(shutil.copy(folder / name, into / name))
        for index in self.indexes:
            try:
                links = dict(self._links(index, package))
                if name := _wheel_of(links, package, version):
                    return self._fetch(links[name], into / name)
                looked.append(_public(index))
            except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
                looked.append(f"{_public(index)} ({type(error).__name__}: {error})")
        raise NoWheel(f"no wheel of {package}=={version} in {', '.join(looked) or 'any configured place'}")

    def _links(self, index: str, package: str) -> list[tuple[str, str]]:
        page = f"{index}/{re.sub(r'[-_.]+', '-', package).lower()}/"
        folder = _local(page) if page.startswith("file:") else None
        if folder is not None:
            file = folder / "index.html"
            return list(_html_links(file.read_text(encoding="utf-8"), file.as_uri())) if file.is_file() else []
        with self._client() as client:
            response = _retried(lambda: client.get(page, headers={"Accept": _ACCEPT}))
            if response.status_code == httpx.codes.NOT_FOUND:
                return []
            response.raise_for_status()
            base = str(response.url)
            if "json" in response.headers.get("content-type", ""):
                return [(file["filename"], urljoin(base, file["url"])) for file in response.json()["files"]]
            return list(_html_links(response.text, base))

    def _fetch(self, url: str, target: Path) -> Path:
        source = _local(url) if url.startswith("file:") else None
        if source is not None:
            return Path(shutil.copy(source, target))

        def stream() -> httpx.Response:
            with self._client() as client, client.stream("GET", url) as response, target.open("wb") as out:
                for block in response.iter_bytes():
                    out.write(block)
            return response

        _retried(stream).raise_for_status()
        return target

    def _client(self) -> httpx.Client:
        verify = ssl.create_default_context(cafile=self.certificates) if self.certificates else True
        return httpx.Client(verify=verify, timeout=_TIMEOUT, follow_redirects=True)


def _retried(request: Callable[[], httpx.Response]) -> httpx.Response:
    """Return the first reply that is no fault of the server or the line, or the last reply."""
    for attempt in range(_TRIES):
        try:
            response = request()
            if response.status_code < 500 or attempt + 1 == _TRIES:
                return response
        except httpx.TransportError:
            if attempt + 1 == _TRIES:
                raise
        time.sleep(0.5 * 2**attempt)
    raise AssertionError("the last try returns or raises")


def _wheel_of(names: Iterable[str], package: str, version: str) -> str:
    """Return the pure wheel of a version among names, else its first wheel of a platform, "" without any."""
    found = [name for name in names if _is_wheel_of(name, package, version)]
    return next((name for name in found if name.endswith("-none-any.whl")), found[0] if found else "")


def _is_wheel_of(name: str, package: str, version: str) -> bool:
    parts = name.removesuffix(".whl").split("-")
    plain = re.sub(r"[-_.]+", "_", package).lower()
    return name.endswith(".whl") and parts[0].lower() == plain and parts[1] == version


class _Anchors(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.hrefs: list[str] = []

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.hrefs += [value for name, value in attrs if tag == "a" and name == "href" and value]


def _html_links(text: str, base: str) -> Iterator[tuple[str, str]]:
    anchors = _Anchors()
    anchors.feed(text)
    for href in anchors.hrefs:
        url = urljoin(base, href).partition("#")[0]
        yield unquote(urlsplit(url).path.rpartition("/")[2]), url


def _local(place: str) -> Path | None:
    """Return the path of a file URL or a plain path, None for another URL."""
    parts = urlsplit(place)
    if parts.scheme == "file":
        return Path(url2pathname(parts.path))
    return None if parts.scheme else Path(place).expanduser()


def _public(url: str) -> str:
    """Return a URL without the name and password in it."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _pip_conf(env: Mapping[str, str]) -> dict[str, str]:
    """Return the options that pip's files set, later files winning; PIP_CONFIG_FILE=/dev/null stands for none."""
    named = env.get("PIP_CONFIG_FILE")
    home = Path(env.get("HOME") or "~").expanduser()
    config_home = Path(env.get("XDG_CONFIG_HOME") or home / ".config")
    shared = [Path("/etc/xdg/pip/pip.conf"), Path("/etc/pip.conf")]
    own = [home / ".pip/pip.conf", config_home / "pip/pip.conf", Path(sys.prefix) / "pip.conf"]
    files = [] if named == os.devnull else [*shared, *own, *([Path(named)] if named else [])]
    options: dict[str, str] = {}
    for file in files:
        parser = configparser.RawConfigParser()
        try:
            parser.read(file, encoding="utf-8")
        except (configparser.Error, UnicodeDecodeError):
            continue
        for section in ("global", "download"):
            if parser.has_section(section):
                options |= dict(parser.items(section))
    return options
