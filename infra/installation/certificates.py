"""The proxy's certificate: of a public authority, two files, an authority inside Caddy, or a company's ACME server."""

from __future__ import annotations

import argparse
import ssl
from collections.abc import Mapping
from pathlib import Path

INFRA = Path(__file__).resolve().parents[1]
CERTIFICATE = INFRA / "certificate"
"""The folder that the proxy reads, and nobody else: tls.crt and tls.key."""
AUTHORITIES = INFRA / "authorities"
"""The folder that every process of ours reads: ca.crt, the authority that clients must trust."""
AUTHORITY_OF_CADDY = "/data/caddy/pki/authorities/local/root.crt"
_INSIDE = "/authorities/ca.crt"


class CertificateRefused(Exception):
    """The options do not fit together, or a file is not what it should be."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose where the certificate comes from; without one it is a public authority."""
    parser.add_argument("--certificate", type=Path, help="your certificate for both names, with its chain (PEM)")
    parser.add_argument("--key", type=Path, help="its private key (PEM)")
    parser.add_argument("--internal-ca", action="store_true", help="Caddy makes an authority; clients must trust it")
    parser.add_argument("--acme", default="", metavar="URL", help="directory of another authority that speaks ACME")
    parser.add_argument("--authority", type=Path, help="root that signed the certificate, if it is not a public one")


def settings(options: argparse.Namespace) -> Mapping[str, str]:
    """Return the settings of the certificate. Raises CertificateRefused."""
    if (options.certificate is None) != (options.key is None):
        raise CertificateRefused("--certificate and --key go together")
    kinds = {"files": options.certificate is not None, "internal": options.internal_ca, "acme": bool(options.acme)}
    chosen = [kind for kind, given in kinds.items() if given]
    if len(chosen) > 1:
        raise CertificateRefused("choose one of --certificate, --internal-ca and --acme")
    if chosen and not options.domain:
        raise CertificateRefused("a certificate is for a name: give --domain as well")
    if options.authority is not None and chosen not in (["files"], ["acme"]):
        raise CertificateRefused("--authority goes with --certificate or --acme")
    values = {"AVA_CERTIFICATE": chosen[0]} if chosen else {}
    if options.acme:
        values["AVA_ACME_DIRECTORY"] = options.acme
    if options.internal_ca or options.authority is not None:
        values["AVA_CA_FILE"] = _INSIDE
    return values


def check(options: argparse.Namespace) -> None:
    """Check that the files are there and that the key is the certificate's. Raises CertificateRefused."""
    try:
        if options.certificate is not None:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(options.certificate, options.key)
        if options.authority is not None:
            ssl.create_default_context(cafile=str(options.authority))
    except (OSError, ValueError) as error:
        raise CertificateRefused(f"the certificate, the key or the authority cannot be used: {error}") from error


def place(options: argparse.Namespace) -> None:
    """Copy the operator's files to where containers read them; the key stays readable for its owner only."""
    if options.certificate is not None:
        _write(CERTIFICATE / "tls.crt", options.certificate.read_bytes(), 0o644)
        _write(CERTIFICATE / "tls.key", options.key.read_bytes(), 0o600)
    if options.authority is not None:
        trust(options.authority.read_bytes())


def trust(authority: bytes) -> None:
    """Let every process of ours trust an authority (PEM) from its next start on."""
    _write(AUTHORITIES / "ca.crt", authority, 0o644)


def _write(path: Path, content: bytes, mode: int) -> None:
    scratch = path.with_name(f".{path.name}")
    scratch.touch(mode=0o600)
    scratch.write_bytes(content)
    scratch.chmod(mode)
    scratch.replace(path)
