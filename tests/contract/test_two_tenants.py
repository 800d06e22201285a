"""Two tenants at once: the checker sees what crosses the border, and nothing does."""

from pathlib import Path

import pytest
from benchmarks.tenant_traffic import Traffic, crossed
from benchmarks.two_tenants import measure

ID, FOREIGN = "a" * 32, "b" * 32


def pair(folder: Path) -> tuple[Traffic, Traffic]:
    one = Traffic("heron", "heron1f", folder / "one")
    other = Traffic("otter", "otter2e", folder / "other")
    other.add("upload", 201, f'{{"document_id": "{FOREIGN}"}}'.encode())
    one.add("upload", 201, f'{{"document_id": "{ID}"}}'.encode())
    return one, other


def test_what_was_asked_with_may_come_back(tmp_path: Path) -> None:
    """A refusal names the id of the request, and the audit log repeats it."""
    one, other = pair(tmp_path)
    body = f"Document {FOREIGN} not found.".encode()
    one.add("probe", 404, body, asked=f"/documents/{FOREIGN}")
    one.add("audit_log", 200, body)
    one.add("search", 200, b'{"results": []}', asked="otter2e")
    assert crossed(one, other) == []


@pytest.mark.parametrize(
    ("body", "head"),
    [
        (FOREIGN.encode(), b""),
        (b"The text of OTTER2e.", b""),
        (b"", b'content-disposition: inline; filename="otter2e-1.txt"'),
    ],
    ids=["id", "text", "file name"],
)
def test_what_crosses_is_found(tmp_path: Path, body: bytes, head: bytes) -> None:
    """In the body or in a header, told first or last."""
    one, other = pair(tmp_path)
    one.add("list", 200, body, head=head)
    assert len(crossed(one, other)) == 1
    assert len(crossed(other, one)) == 1


@pytest.mark.server
def test_nothing_crosses_between_two_tenants_under_load() -> None:
    """A few seconds against the served product; `python -m benchmarks.two_tenants` runs longer."""
    told = measure(8.0, 2)
    assert told["first_faults"] == []
    assert told["audit_clean"]
    assert min(told["answers"].values()) > 20
