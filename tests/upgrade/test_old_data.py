"""Data of the first version is opened, used and changed by this one."""

import re
from pathlib import Path

from tests.upgrade import first_version
from tests.upgrade.first_version import FAILED, KB, PENDING, READY, USER

from agentscope.app.storage.sql.dialect import SQLITE
from agentscope.app.storage.sql.migrations import m0001_records
from agentscope.app.storage.sql.sqlite import SQLiteStorage
from agentscope.rag.vector_store.embedded import EmbeddedVectorStore
from agentscope.testing.rest import RestService, memory_app


def test_the_first_step_of_the_schema_is_as_it_was_shipped() -> None:
    """A step is never edited: data made by it is in use."""
    shipped = [line for line in first_version.SCHEMA.read_text().split(";\n") if line.strip()]
    now = [re.sub(r"\s+", " ", text).strip() for text in m0001_records.statements(SQLITE)]
    assert now == shipped


def test_a_directory_of_the_first_version_is_opened_and_goes_on(tmp_path: Path) -> None:
    """What was searchable is, what waited is indexed, and everything can be changed."""
    folder = tmp_path / "data"
    first_version.write(folder)
    app = memory_app(
        folder,
        storage=SQLiteStorage(folder / "records.sqlite"),
        vector_store=EmbeddedVectorStore(folder / "vectors"),
    )
    path = f"/knowledge_bases/{KB}/documents"
    with RestService(app) as service:
        assert service.settled(KB, PENDING, user=USER)["status"] == "ready"
        views = service.json("GET", path, user=USER)["documents"]
        states = {view["id"]: (view["filename"], view["status"]) for view in views}
        assert states == {
            READY: ("leave.txt", "ready"),
            PENDING: ("trips.txt", "ready"),
            FAILED: ("blank.txt", "error"),
        }
        for query, name in (("annual leave days", "leave.txt"), ("trips", "trips.txt")):
            for mode in ("vector", "keyword", "hybrid"):
                body = {"query": query, "mode": mode, "top_k": 1}
                found = service.json("POST", f"/knowledge_bases/{KB}/search", user=USER, json=body)
                assert [hit["chunk"]["source"] for hit in found["results"]] == [name], mode
        original = service.call("GET", f"{path}/{READY}", user=USER).text
        assert original == first_version.TEXTS[READY]
        service.ready(KB, "new.txt", b"Something new.", user=USER)
        service.json("POST", f"{path}/{READY}/reindex", status=202, user=USER)
        assert service.settled(KB, READY, user=USER)["status"] == "ready"
        service.json("DELETE", f"{path}/{FAILED}", status=204, user=USER)
        share = {"permission": "read"}
        service.json("PUT", f"/knowledge_bases/{KB}/shares/bob", user=USER, json=share)
        report = service.json("POST", "/operator/audit", params={"deep": True})
        assert report["clean"], report["findings"]
    with RestService(
        memory_app(
            folder,
            storage=SQLiteStorage(folder / "records.sqlite"),
            vector_store=EmbeddedVectorStore(folder / "vectors"),
        )
    ) as service:
        assert service.json("GET", path, user=USER)["total"] == 3
