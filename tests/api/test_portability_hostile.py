"""Archives that lie: each is refused with a stable code, and nothing of it is left."""

import json
import tarfile
import uuid
from pathlib import Path
from typing import Any

import pytest

from agentscope.app.rag.archive import tar
from agentscope.app.rag.service.limits import ServiceLimits
from agentscope.testing.archives import (
    Change,
    changed,
    entries,
    exported,
    imported,
    names,
    packed,
    sent,
    with_fields,
)
from agentscope.testing.rest import RestService, memory_app


@pytest.fixture(scope="module")
def archive(service: RestService) -> bytes:
    """Return an honest archive of three documents."""
    user = f"source-{uuid.uuid4().hex[:8]}"
    kb = service.knowledge_base(user=user, name="House rules")
    for number in range(3):
        text = f"Rule {number}: be kind.\n\n" * 40
        metadata = json.dumps({"year": 2024})
        service.ready(kb, f"{number}.txt", text.encode(), user=user, metadata=metadata)
    return exported(service, user, kb)


@pytest.mark.parametrize("size", [0, 100, 512, 1500])
def test_an_archive_that_ends_before_any_document_leaves_nothing(
    service: RestService, archive: bytes, user: str, size: int
) -> None:
    """There would be nothing to go on with."""
    answer = sent(service, user, archive[:size])
    assert (answer.status_code, answer.json()["code"]) == (422, "archive_incomplete")
    assert names(service, user) == []


def test_every_byte_counts(service: RestService, archive: bytes, user: str) -> None:
    """Wherever one is changed, the import is refused and leaves nothing."""
    for place in range(0, len(archive) - 1024, len(archive) // 20):
        damaged = bytearray(archive)
        damaged[place] ^= 1
        answer = sent(service, user, bytes(damaged))
        assert answer.status_code == 422, place
        assert answer.json()["code"] == "archive_invalid", place
        assert names(service, user) == [], place


def _entry(suffix: str, **fields: Any) -> Change:
    """Return a change of the JSON entries whose name ends so."""

    def change(name: str, content: bytes) -> bytes:
        return with_fields(content, **fields) if name.endswith(suffix) else content

    return change


def _without(part: str) -> Change:
    """Return a change that leaves entries out."""
    return lambda name, content: None if part in name else content


def _swapped(part: str, old: bytes, new: bytes) -> Change:
    """Return a change of bytes in entries."""
    return lambda name, content: content.replace(old, new) if part in name else content


YEAR = b'"year":2024'
HOSTILE: dict[str, tuple[Change, str]] = {
    "another format": (_entry("manifest.json", format="zip"), "archive_invalid"),
    "a newer version": (_entry("manifest.json", version=2), "archive_version"),
    "no manifest": (_without("manifest.json"), "archive_invalid"),
    "no original": (_without("2/original"), "archive_invalid"),
    "no vectors": (_without("vectors"), "archive_invalid"),
    "no end of a document": (_without("1/end.json"), "archive_invalid"),
    "a lying size": (_entry("1/document.json", size=3), "archive_invalid"),
    "a negative size": (_entry("1/document.json", size=-3), "archive_invalid"),
    "a lying checksum": (_entry("2/document.json", sha256="0" * 64), "archive_invalid"),
    "another number of chunks": (_entry("/document.json", chunks=99), "archive_invalid"),
    "lying totals": (lambda n, c: with_fields(c, documents=2) if n == "end.json" else c,
                     "archive_invalid"),
    "vectors of another shape": (_swapped("vectors", b"(", b"(9"), "archive_invalid"),
    "pickled vectors": (_swapped("vectors", b"<f4", b"|O4"), "archive_invalid"),
    "a header that is code": (_swapped("vectors", b"False", b"f()  "), "archive_invalid"),
    "too many vectors": (_swapped("vectors", b"64", b"99"), "archive_invalid"),
    "infinite vectors": (
        lambda n, c: c[:-4] + b"\x00\x00\x80\x7f" if "vectors" in n else c, "archive_invalid"
    ),
    "chunks out of order": (
        _swapped("chunks", b'"chunk_index":0', b'"chunk_index":7'), "archive_invalid"
    ),
    "no chunks at all": (lambda n, c: b"" if "chunks" in n else c, "archive_invalid"),
    "endless nesting": (
        _swapped("chunks", YEAR, b'"year":' + b"[" * 900 + b"]" * 900), "archive_invalid"
    ),
    "deep nesting": (
        _swapped("chunks", YEAR, b'"year":' + b"[" * 20 + b"]" * 20), "archive_invalid"
    ),
    "numbers no store can hold": (_swapped("chunks", YEAR, b'"year":1e999'), "archive_invalid"),
    "reserved metadata": (_entry("1/document.json", metadata={"run_id": "x"}), "invalid_input"),
    "a name that is none": (_entry("1/document.json", filename=".."), "invalid_input"),
    "a credential nobody has": (
        _swapped("manifest", b"local_credential", b"openai_credential"), "credential_not_found"
    ),
    "dimensions nobody has": (
        _swapped("manifest", b'"dimensions": 64', b'"dimensions": 99999'), "invalid_input"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_archive_is_refused_and_leaves_nothing(
    service: RestService, archive: bytes, user: str, name: str
) -> None:
    """All checksums are right; what they are about is not."""
    change, code = HOSTILE[name]
    tampered = changed(archive, change)
    assert tampered != archive
    answer = sent(service, user, tampered)
    assert answer.status_code in (404, 422), answer.text
    assert answer.json()["code"] == code
    assert len(answer.json()["detail"]) < 300
    assert names(service, user) == []


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd", "/etc/passwd", "documents/00000001/../x", "documents/1/original",
        "documents/00000001/original/x", "documents/00000001/chunks-0.jsonl", "x", "\u202e",
    ],
)  # fmt: skip
def test_an_entry_with_another_name_is_refused(
    service: RestService, archive: bytes, user: str, name: str
) -> None:
    """There is one order of entries, and names are never paths."""
    parts = list(entries(archive))
    parts[2] = (name, parts[2][1])
    assert sent(service, user, packed(parts)).json()["code"] == "archive_invalid"
    assert names(service, user) == []


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, b"x", b"L"])
def test_only_plain_files_are_read(
    service: RestService, archive: bytes, user: str, kind: bytes
) -> None:
    """No links, no folders, no extensions."""
    parts = list(entries(archive))
    info = tarfile.TarInfo(parts[2][0])
    info.type, info.linkname = kind, "../../../etc/passwd"
    hostile = packed(parts[:2]).removesuffix(tar.END) + info.tobuf(tarfile.GNU_FORMAT)
    assert sent(service, user, hostile + tar.END).json()["code"] == "archive_invalid"
    assert names(service, user) == []


def test_a_header_that_promises_too_much_reserves_nothing(
    service: RestService, archive: bytes, user: str
) -> None:
    """Entries are refused by what their header says, before their content comes."""
    body = packed(list(entries(archive))[:3]).removesuffix(tar.END)
    huge = tar.header("documents/00000001/chunks-00000.jsonl", 2**60, modified=0)
    answer = sent(service, user, body + huge + b"x" * 4096)
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    assert names(service, user) == []


def test_something_behind_the_end_is_refused(
    service: RestService, archive: bytes, user: str
) -> None:
    """Zeros may follow, as tar writes them."""
    assert sent(service, user, archive + b"more").json()["code"] == "archive_invalid"
    assert names(service, user) == []
    assert imported(service, user, archive + bytes(10_240))["documents"]["carried"] == 3


def test_what_is_wrong_later_leaves_what_was_there_before(
    service: RestService, archive: bytes, user: str
) -> None:
    """A knowledge base from an earlier import is not deleted because of a bad file."""
    imported(service, user, archive)
    change, _ = HOSTILE["lying totals"]
    assert sent(service, user, changed(archive, change)).json()["code"] == "archive_invalid"
    assert names(service, user) == ["House rules"]


@pytest.mark.parametrize(
    "limits", [ServiceLimits(archive_bytes=20_000), ServiceLimits(archive_documents=2)]
)
def test_an_archive_beyond_the_limits_is_refused(
    tmp_path: Path, archive: bytes, limits: ServiceLimits
) -> None:
    """Bytes and documents are counted as they arrive."""
    with RestService(memory_app(tmp_path, service_limits=limits)) as small:
        answer = sent(small, "alice", archive)
        assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
        assert names(small, "alice") == []
