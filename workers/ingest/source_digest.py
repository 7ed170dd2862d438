"""The SHA-256 of a stored recording, held against the one that its customer announced."""

from __future__ import annotations

import hashlib

from backend.jobs.services import JobFailed
from workers.work import Work

CHUNK = 4 * 1024**2


def digest_of(work: Work, object_key: str, *, size_bytes: int, announced: str) -> str:
    """Return the SHA-256 of a whole object in hex. size_bytes: its length, for the progress.

    announced: the SHA-256 that the customer gave, "" for none. Raises JobFailed (checksum_mismatch) for another one,
    ObjectMissing and LeaseLost.
    """
    digest, done = hashlib.sha256(), 0
    for chunk in work.objects().chunks(object_key, size=CHUNK):
        work.require_lease()
        digest.update(chunk)
        done += len(chunk)
        work.progress("checksum", done, size_bytes)
    found = digest.hexdigest()
    if announced and announced.lower() != found:
        raise JobFailed(
            "checksum_mismatch",
            "The file has another SHA-256 than the one that was announced; send it again.",
            retryable=False,
        )
    return found
