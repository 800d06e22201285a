"""Secrets at rest: AES-256-GCM over single values, with key rotation, and masking for reads.

A sealed value is text: `sealed:1:<key id>:<base64url of nonce and ciphertext>`. It is bound to
the place it was sealed for (owner and field), so a value copied to another record does not open.
Keys are given, never read from the environment here.
"""

import base64
import contextlib
import logging
import os
import re
import secrets
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from agentscope.credential.base import MASK, CredentialBase
from agentscope.credential.factory import CredentialFactory
from agentscope.errors import ConfigurationError

logger = logging.getLogger(__name__)

_PREFIX = "sealed:1:"
_NONCE_BYTES = 12
_MIN_KEY_LENGTH = 16


def _derived(key: bytes, purpose: str, length: int = 32) -> bytes:
    """HKDF with SHA-256 (RFC 5869), no salt: the keys are random or at least long."""
    return HKDF(SHA256(), length, salt=None, info=f"agentscope:{purpose}".encode()).derive(key)


class SecretBox:
    """Seals with the newest key and opens with any key it was given."""

    def __init__(self, keys: Sequence[str | bytes]) -> None:
        """Take the keys, newest first.

        Raises:
            ConfigurationError: no key was given, or one is shorter than 16 characters.
        """
        if not keys:
            raise ConfigurationError("A secret key is needed.")
        raw = [key.encode() if isinstance(key, str) else key for key in keys]
        if any(len(key) < _MIN_KEY_LENGTH for key in raw):
            raise ConfigurationError(f"A secret key needs at least {_MIN_KEY_LENGTH} characters.")
        self._keys = raw
        self.key_ids = tuple(_derived(key, "key-id", 6).hex() for key in raw)
        self._ciphers = {
            key_id: AESGCM(_derived(key, "seal"))
            for key_id, key in zip(self.key_ids, raw, strict=True)
        }

    @classmethod
    def from_text(cls, text: str) -> "SecretBox":
        """Take keys from one setting: newest first, separated by commas or white space."""
        return cls([part for part in re.split(r"[\s,]+", text) if part])

    @property
    def key_id(self) -> str:
        """The id of the key that seals; it tells nothing about the key."""
        return self.key_ids[0]

    def ensure_known(self, key_id: str) -> None:
        """Refuse to work on data sealed with a key that is not here.

        Raises:
            ConfigurationError: `key_id` belongs to another key.
        """
        if key_id not in self._ciphers:
            raise ConfigurationError(
                "The stored credentials were encrypted with another secret key; "
                "give that key too, after the new one.",
                context={"key_id": key_id},
            )

    def seal(self, text: str, *, place: str) -> str:
        """Return `text` encrypted for `place`; twice the same text gives different values."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        sealed = self._ciphers[self.key_id].encrypt(nonce, text.encode(), place.encode())
        return f"{_PREFIX}{self.key_id}:{base64.urlsafe_b64encode(nonce + sealed).decode()}"

    def open(self, sealed: str, *, place: str) -> str:
        """Return the text sealed for `place`.

        Raises:
            ConfigurationError: the key is missing, or the value was damaged or moved.
        """
        key_id, _, body = sealed.removeprefix(_PREFIX).partition(":")
        if not sealed.startswith(_PREFIX):
            raise ConfigurationError("A stored secret is not encrypted.")
        self.ensure_known(key_id)
        try:
            data = base64.urlsafe_b64decode(body)
            text = self._ciphers[key_id].decrypt(
                data[:_NONCE_BYTES], data[_NONCE_BYTES:], place.encode()
            )
        except (InvalidTag, ValueError) as exc:
            raise ConfigurationError("A stored secret is damaged; enter it again.") from exc
        return text.decode()

    def is_outdated(self, sealed: str) -> bool:
        """Tell whether `sealed` was made with an older key and should be sealed again."""
        return not sealed.startswith(f"{_PREFIX}{self.key_id}:")

    def derive(self, purpose: str) -> bytes:
        """Return a 32-byte key for another use, such as signing download links."""
        return _derived(self._keys[0], f"derived:{purpose}")

    def derive_all(self, purpose: str) -> list[bytes]:
        """Return the derived keys of all generations, newest first, to accept older signatures."""
        return [_derived(key, f"derived:{purpose}") for key in self._keys]


def sealed_payload(box: SecretBox, credential: CredentialBase, *, owner: str) -> dict[str, Any]:
    """Return the payload to store: secret fields sealed, everything else readable."""
    data = credential.reveal()
    for name in credential.secret_fields():
        if data[name] is not None:
            data[name] = box.seal(data[name], place=_place(owner, credential.id, name))
    return data


def opened_payload(box: SecretBox, data: Mapping[str, Any], *, owner: str) -> dict[str, Any]:
    """Return the stored payload with its secrets in clear text; never send it to a client.

    Raises:
        ConfigurationError: the key is missing, or a value was damaged or moved.
    """
    opened = dict(data)
    for name in _secret_names(data):
        if isinstance(opened.get(name), str):
            place = _place(owner, str(data.get("id", "")), name)
            opened[name] = box.open(opened[name], place=place)
    return opened


def opened_credential(box: SecretBox, data: Mapping[str, Any], *, owner: str) -> CredentialBase:
    """Return the stored credential, ready to be used."""
    return CredentialFactory.from_dict(opened_payload(box, data, owner=owner))


def resealed_payload(
    box: SecretBox, data: Mapping[str, Any], *, owner: str
) -> dict[str, Any] | None:
    """Return the payload sealed with the newest key; None when it already is."""
    names = [name for name in _secret_names(data) if isinstance(data.get(name), str)]
    if not any(box.is_outdated(data[name]) for name in names):
        return None
    opened = opened_payload(box, data, owner=owner)
    for name in names:
        opened[name] = box.seal(opened[name], place=_place(owner, str(data.get("id", "")), name))
    return opened


def masked_payload(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a stored payload as clients may see it; needs no key."""
    return {
        name: MASK if name in _secret_names(data) and value else value
        for name, value in data.items()
    }


def merged_payload(opened: Mapping[str, Any], update: Mapping[str, Any]) -> dict[str, Any]:
    """Return `update` with the secrets it leaves out, or carries masked, taken from `opened`.

    A secret is kept only within one type: it must not move to another provider.
    """
    merged = dict(update)
    merged.setdefault("type", opened.get("type"))
    if merged["type"] == opened.get("type"):
        for name in _secret_names(opened):
            if merged.get(name) in (None, "", MASK) and opened.get(name) is not None:
                merged[name] = opened[name]
    merged["id"] = opened.get("id")
    return merged


def key_from_file(path: Path) -> str:
    """Return the key text of `path`, after making the file with a new key if there is none.

    The file is complete or absent at any time; of several processes that make it at once, one
    wins and all read its key. Blocking; call it before the event loop serves.

    Raises:
        ConfigurationError: the file cannot be read or made.
    """
    try:
        return _existing_key(path) or _created_key(path)
    except OSError as exc:
        raise ConfigurationError(
            "The secret key file cannot be read or made.", context={"path": str(path)}
        ) from exc


def _existing_key(path: Path) -> str | None:
    try:
        text = path.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return None
    if not text:
        raise ConfigurationError("The secret key file is empty.", context={"path": str(path)})
    if path.stat().st_mode & 0o077:
        logger.warning("secret_key_file_is_readable_by_others", extra={"path": str(path)})
    return text


def _created_key(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".secret-")  # made with 0600
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(secrets.token_urlsafe(32) + "\n")
            file.flush()
            os.fsync(file.fileno())
        # A hard link fails if the name exists, where a rename would replace a rival's key.
        with contextlib.suppress(FileExistsError):
            path.hardlink_to(temporary)
        _sync_directory(path.parent)
    finally:
        temporary.unlink()
    key = _existing_key(path)
    assert key is not None
    return key


def _sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _secret_names(data: Mapping[str, Any]) -> frozenset[str]:
    """Return the secret fields of a payload; of a type no longer registered, the sealed ones."""
    known = CredentialFactory.get_credential_class(str(data.get("type")))
    sealed = {
        name
        for name, value in data.items()
        if known is None and isinstance(value, str) and value.startswith(_PREFIX)
    }
    return known.secret_fields() if known is not None else frozenset(sealed)


def _place(owner: str, credential_id: str, field: str) -> str:
    return f"{owner}\n{credential_id}\n{field}"
