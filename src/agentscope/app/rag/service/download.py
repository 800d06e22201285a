"""The original file of a document, and tokens that stand for the right to read it."""

import base64
import binascii
import hashlib
import hmac
import re
import time
from dataclasses import dataclass

from agentscope.app.rag.service.opening import open_document, open_knowledge_base
from agentscope.app.rag.service.parts import KnowledgeBaseService
from agentscope.app.records import DocumentRecord
from agentscope.errors import AuthenticationError, BlobNotFoundError, InvalidInputError

TOKEN_SECONDS = 600
_TOKEN = re.compile(r"(\d{1,12})\.([A-Za-z0-9_-]{1,2000})\.([A-Za-z0-9_-]{43})")


@dataclass(frozen=True, slots=True)
class Original:
    """A stored original; `size` is None where the blob store cannot tell."""

    document: DocumentRecord
    size: int | None


async def open_original(
    service: KnowledgeBaseService, viewer_id: str, knowledge_base_id: str, document_id: str
) -> Original:
    """Return the original of a document in any visible state; read it from `service.blobs`.

    Raises:
        KnowledgeBaseNotFoundError, DocumentNotFoundError: not visible to the viewer.
        BlobNotFoundError: the file is gone from the blob store.
    """
    opened = await open_knowledge_base(service, viewer_id, knowledge_base_id)
    document = await open_document(service, opened, document_id)
    try:
        size = await service.blobs.size(document.blob_uri)
        if size is None and not await service.blobs.exists(document.blob_uri):
            raise BlobNotFoundError
    except (InvalidInputError, BlobNotFoundError) as exc:
        raise BlobNotFoundError from exc
    return Original(document, size)


async def make_download_token(
    service: KnowledgeBaseService, viewer_id: str, knowledge_base_id: str, document_id: str
) -> tuple[str, float]:
    """Return a token for this viewer and document, and when it expires (Unix seconds).

    Raises:
        KnowledgeBaseNotFoundError, DocumentNotFoundError: not visible to the viewer.
    """
    opened = await open_knowledge_base(service, viewer_id, knowledge_base_id)
    document = await open_document(service, opened, document_id)
    expires = int(time.time()) + TOKEN_SECONDS
    place = f"kb/{knowledge_base_id}/{document.id}"
    signature = _signature(service.download_keys[0], expires, viewer_id, place)
    return f"{expires}.{_encode(viewer_id.encode())}.{signature}", float(expires)


def viewer_of_token(
    service: KnowledgeBaseService, token: str, knowledge_base_id: str, document_id: str
) -> str:
    """Return the viewer that a token was made for; whether they still may read is asked later.

    Raises:
        AuthenticationError: the token is malformed, of another document, forged or expired.
    """
    match = _TOKEN.fullmatch(token)
    if match is None:
        raise AuthenticationError("Malformed download token.")
    expires = int(match[1])
    try:
        viewer_id = base64.urlsafe_b64decode(match[2] + "=" * (-len(match[2]) % 4)).decode()
    except (binascii.Error, ValueError) as exc:
        raise AuthenticationError("Malformed download token.") from exc
    place = f"kb/{knowledge_base_id}/{document_id}"
    good = [
        hmac.compare_digest(_signature(key, expires, viewer_id, place), match[3])
        for key in service.download_keys
    ]
    # The user part is compared as it was sent: base64 has several spellings of one text.
    if not any(good) or _encode(viewer_id.encode()) != match[2]:
        raise AuthenticationError("Invalid download token.")
    if expires < time.time():
        raise AuthenticationError("Expired download token.")
    return viewer_id


def _signature(key: bytes, expires: int, viewer_id: str, place: str) -> str:
    message = f"{expires}\0{viewer_id}\0{place}".encode(errors="surrogatepass")
    return _encode(hmac.new(key, message, hashlib.sha256).digest())


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
