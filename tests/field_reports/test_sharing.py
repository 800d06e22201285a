"""Field reports about settings under load and about what is shared."""

import uuid
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from agentscope.app.access import ResourceAccessPolicyBase, ResourceKind, ResourceRef
from agentscope.app.storage.base import StorageBase
from agentscope.testing.rest import RestService, memory_app


def test_field_report_15_the_chunker_does_not_change_under_uploads(tmp_path: Path) -> None:
    """A change is refused with 409 while five uploads run, and all end with the same settings."""
    with RestService(memory_app(tmp_path)) as service:
        config = {"type": "approx_token", "parameters": {"chunk_size": 16, "overlap": 0}}
        kb = service.knowledge_base(chunker_config=config)
        text = ("one two three four five six seven eight nine ten " * 20).encode()
        other = {"type": "approx_token", "parameters": {"chunk_size": 400, "overlap": 0}}

        def send(number: int) -> int:
            if number % 2:
                change = {"chunker_config": other}
                return service.call("PATCH", f"/knowledge_bases/{kb}", json=change).status_code
            return service.upload(kb, f"{number}.txt", text).status_code

        with ThreadPoolExecutor(10) as callers:
            codes = list(callers.map(send, range(10)))
        assert codes == [201, 409] * 5
        listed = service.json("GET", f"/knowledge_bases/{kb}/documents")["documents"]
        views = [service.settled(kb, document["id"], seconds=120) for document in listed]
        counts = {view["chunk_count"] for view in views}
        assert len(views) == 5
        assert len(counts) == 1
        assert counts.pop() > 10
        same = {"chunker_config": config, "name": "Renamed"}
        assert service.json("PATCH", f"/knowledge_bases/{kb}", json=same)["name"] == "Renamed"


class SharedForReading(ResourceAccessPolicyBase):
    """Shows what is in the list to the user `reader`."""

    def __init__(self) -> None:
        self.shared: list[ResourceRef] = []

    async def list_accessible(
        self, viewer_id: str, kind: ResourceKind, storage: StorageBase
    ) -> Sequence[ResourceRef]:
        del storage
        return [ref for ref in self.shared if viewer_id == "reader" and ref.kind is kind]


def test_field_report_16_what_is_shared_can_be_used(tmp_path: Path) -> None:
    """A reader lists, searches and reads; may not write; a stranger sees nothing at all."""
    policy = SharedForReading()
    with RestService(memory_app(tmp_path, resource_access_policy=policy)) as service:
        kb = service.knowledge_base()
        document = service.ready(kb, "a.txt", b"words of the owner")
        policy.shared.append(ResourceRef(ResourceKind.KNOWLEDGE_BASE, "alice", kb))
        path = f"/knowledge_bases/{kb}"
        listed = service.json("GET", "/knowledge_bases/", user="reader")["knowledge_bases"]
        assert [(entry["id"], entry["editable"]) for entry in listed] == [(kb, False)]
        query = {"query": "words of the owner"}
        found = service.json("POST", f"{path}/search", user="reader", json=query)
        assert [hit["document_id"] for hit in found["results"]] == [document]
        shown = service.json("GET", f"{path}/documents/{document}/chunks", user="reader")
        assert shown["total"] == 1
        writes: list[tuple[str, str, dict[str, Any]]] = [
            ("PATCH", path, {"json": {"name": "mine"}}),
            ("DELETE", path, {}),
            ("POST", f"{path}/documents", {"files": {"file": ("b.txt", b"b", "text/plain")}}),
            ("DELETE", f"{path}/documents/{document}", {}),
        ]
        for method, target, options in writes:
            allowed = service.call(method, target, user="reader", **options)
            assert allowed.status_code == 403, (method, target, allowed.text)
            stranger = service.call(method, target, user=uuid.uuid4().hex, **options)
            assert stranger.status_code == 404, (method, target, stranger.text)
        assert service.call("POST", f"{path}/search", user="x", json=query).status_code == 404
        assert service.json("GET", f"{path}/documents")["total"] == 1
