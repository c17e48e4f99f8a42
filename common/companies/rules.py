"""The text of an API key and how its secret is hashed. Pure."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass

_KEY = re.compile(r"fb_(?P<prefix>[a-z0-9]{8})_(?P<secret>[A-Za-z0-9_-]{43})")
_PREFIX_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"


@dataclass(frozen=True)
class KeyText:
    """A key as a runtime holds it: `fb_<prefix>_<secret>`; the secret has 256 random bits."""

    prefix: str
    secret: str

    def __str__(self) -> str:
        return f"fb_{self.prefix}_{self.secret}"


def new_key_text() -> KeyText:
    """A fresh random key."""
    prefix = "".join(secrets.choice(_PREFIX_ALPHABET) for _ in range(8))
    return KeyText(prefix=prefix, secret=secrets.token_urlsafe(32))


def parse_key_text(text: str) -> KeyText | None:
    """The parts of a key text, or None when it does not look like one."""
    match = _KEY.fullmatch(text)
    return KeyText(match["prefix"], match["secret"]) if match else None


def secret_hash(secret: str, pepper: str) -> str:
    """HMAC-SHA-256 of the secret under the pepper, hex (64 characters)."""
    return hmac.new(pepper.encode(), secret.encode(), hashlib.sha256).hexdigest()


def secret_matches(secret: str, stored_hash: str, peppers: list[str]) -> bool:
    """Whether `secret` has `stored_hash` under any of `peppers` (current first, then retired ones)."""
    return any(hmac.compare_digest(secret_hash(secret, pepper), stored_hash) for pepper in peppers)
