"""A security key in software: real keys, real signatures, and a counter that rises with each use."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from fido2.cose import ES256
from fido2.utils import websafe_encode
from fido2.webauthn import Aaguid, AttestationObject, AttestedCredentialData, AuthenticatorData, CollectedClientData

FLAG = AuthenticatorData.FLAG


class SecurityKey:
    """One credential of one person. origin: the address that its browser shows."""

    def __init__(self, origin: str, *, counts: bool = True) -> None:
        self.origin, self.counts = origin, counts
        self.id, self.count = os.urandom(32), 0
        self._private = ec.generate_private_key(ec.SECP256R1())

    def created(self, options: str) -> str:
        """Reply to the options of a new passkey, as the browser does in JSON."""
        wanted = json.loads(options)["publicKey"]
        assert -7 in [one["alg"] for one in wanted["pubKeyCredParams"]]
        key = AttestedCredentialData.create(
            Aaguid.NONE, self.id, ES256.from_cryptography_key(self._private.public_key())
        )
        data = AuthenticatorData.create(self._host(wanted["rp"]["id"]), FLAG.UP | FLAG.AT, self._next(), key)
        client = self._client(CollectedClientData.TYPE.CREATE, wanted["challenge"])
        return self._reply(
            clientDataJSON=client, attestationObject=AttestationObject.create("none", data, {}), transports=["usb"]
        )

    def signed(self, options: str) -> str:
        """Reply to the options of a sign-in."""
        wanted = json.loads(options)["publicKey"]
        data = AuthenticatorData.create(self._host(wanted["rpId"]), FLAG.UP, self._next())
        client = self._client(CollectedClientData.TYPE.GET, wanted["challenge"])
        signature = self._private.sign(data + client.hash, ec.ECDSA(SHA256()))
        return self._reply(clientDataJSON=client, authenticatorData=data, signature=signature)

    def _next(self) -> int:
        self.count += self.counts
        return self.count

    def _host(self, name: str) -> bytes:
        return sha256(name.encode()).digest()

    def _client(self, kind: str, challenge: str) -> CollectedClientData:
        return CollectedClientData.create(kind, challenge, self.origin)

    def _reply(self, **response: Any) -> str:
        sent = {name: websafe_encode(value) if isinstance(value, bytes) else value for name, value in response.items()}
        own = websafe_encode(self.id)
        return json.dumps(
            {"type": "public-key", "id": own, "rawId": own, "clientExtensionResults": {}, "response": sent}
        )
