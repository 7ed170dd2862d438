"""The secrets of members' second factors, as they lie in the database."""

from __future__ import annotations

from allauth.mfa.adapter import DefaultMFAAdapter

from backend.tenancy.secrets import open_sealed, seal


class SealedFactors(DefaultMFAAdapter):
    """Seal the secret of an authenticator app and the seed of recovery codes under the installation's keys."""

    def encrypt(self, text: str) -> str:
        return seal(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        return open_sealed(encrypted_text.encode()).decode()
