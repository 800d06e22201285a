"""Exports and imports over REST, and archives that were tampered with."""

import hashlib
import io
import json
import tarfile
from collections.abc import Callable, Iterator
from typing import Any

import httpx

from agentscope.app.rag.archive import tar
from agentscope.testing.rest import RestService

Change = Callable[[str, bytes], bytes | None]


def exported(service: RestService, user: str, knowledge_base_id: str) -> bytes:
    """Return the archive of a knowledge base."""
    answer = service.call("GET", f"/knowledge_bases/{knowledge_base_id}/export", user=user)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/x-tar"
    return answer.content


def sent(service: RestService, user: str, content: bytes, **params: Any) -> httpx.Response:
    """Return the answer to an import."""
    return service.call(
        "POST", "/knowledge_bases/import", user=user, content=content, params=params
    )


def imported(service: RestService, user: str, content: bytes, **params: Any) -> dict[str, Any]:
    """Return what an import that must succeed did."""
    answer = sent(service, user, content, **params)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def names(service: RestService, user: str) -> list[str]:
    """Return the names of the user's knowledge bases, sorted."""
    listed = service.json("GET", "/knowledge_bases/", user=user)["knowledge_bases"]
    return sorted(entry["name"] for entry in listed)


def found_by(
    service: RestService, user: str, knowledge_base_id: str, query: str, mode: str
) -> list[Any]:
    """Return what a search finds, without ids; equal scores are ordered by place."""
    body = {"query": query, "top_k": 10, "mode": mode}
    path = f"/knowledge_bases/{knowledge_base_id}/search"
    found = [
        (
            hit["chunk"]["source"],
            hit["chunk"]["chunk_index"],
            hit["chunk"]["content"]["text"],
            hit["chunk"]["metadata"],
            round(hit["score"], 4),
        )
        for hit in service.json("POST", path, user=user, json=body)["results"]
        if hit["score"] > 0
    ]
    return sorted(found, key=lambda hit: (-hit[-1], hit[0], hit[1]))


def content_of(service: RestService, user: str, knowledge_base_id: str) -> list[Any]:
    """Return every document with its original and its chunks, without ids."""
    path = f"/knowledge_bases/{knowledge_base_id}/documents"
    found = []
    for view in service.json("GET", path, user=user)["documents"]:
        original = service.call("GET", f"{path}/{view['id']}", user=user).content
        chunks = service.json("GET", f"{path}/{view['id']}/chunks", user=user)["chunks"]
        kept = {name: view[name] for name in ("metadata", "status", "chunk_count", "size")}
        texts = [(chunk["content"]["text"], chunk["metadata"]) for chunk in chunks]
        found.append((view["filename"], original, texts, kept))
    return sorted(found, key=lambda item: str(item[0]))


def entries(archive: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield names and contents, as the standard library reads them."""
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as opened:
        for member in opened:
            file = opened.extractfile(member)
            assert file is not None
            yield member.name, file.read()


def packed(parts: list[tuple[str, bytes]]) -> bytes:
    """Return an archive of these entries with the checksums of an honest one."""
    body = b""
    digests: dict[str, str] = {}
    for name, content in parts:
        last, sealed = name.rpartition("/")[2], content
        if last == "document.json":
            digests = {}
        if name == "end.json":
            sealed = with_fields(content, sha256=hashlib.sha256(body).hexdigest())
        elif last == "end.json":
            sealed = with_fields(content, entries=digests)
        digests[last] = hashlib.sha256(sealed).hexdigest()
        body += tar.header(name, len(sealed), modified=0) + sealed + tar.padding(len(sealed))
    return body + tar.END


def changed(archive: bytes, change: Change) -> bytes:
    """Return the archive with each entry changed, or left out; its checksums are right again."""
    parts = [(name, change(name, content)) for name, content in entries(archive)]
    return packed([(name, content) for name, content in parts if content is not None])


def with_fields(content: bytes, **fields: Any) -> bytes:
    """Return a JSON object with other values."""
    return json.dumps({**json.loads(content), **fields}).encode()
