"""Copies of an embedded data directory work as the original: stopped, and in use."""

import shutil
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner

from agentscope.app.storage.sql.sqlite import SQLiteStorage
from agentscope.cli.backup import copy_directory
from agentscope.cli.data_directory import DataDirectory
from agentscope.cli.entry import main
from agentscope.errors import InvalidInputError
from agentscope.rag.vector_store.embedded import EmbeddedVectorStore
from agentscope.testing.rest import RestService, memory_app

READY = 5


def service_on(folder: Path) -> RestService:
    """Return a service that keeps everything under a directory."""
    directory = DataDirectory(folder)
    app = memory_app(
        folder,
        storage=SQLiteStorage(directory.database),
        vector_store=EmbeddedVectorStore(directory.vectors, index_from_values=1),
        sole_owner=True,
    )
    return RestService(app)


def filled(service: RestService) -> str:
    """Return a knowledge base with a few documents."""
    kb = service.knowledge_base(name="Kept")
    for number in range(READY):
        service.ready(kb, f"{number}.txt", f"Sentence number{number} stands here.".encode())
    return kb


def check_restored(service: RestService, kb: str) -> None:
    """Everything that was ready is found, can be read and changed, and nothing is out of place."""
    for number in range(READY):
        body = {"query": f"number{number}", "mode": "keyword", "top_k": 1}
        (hit,) = service.json("POST", f"/knowledge_bases/{kb}/search", json=body)["results"]
        assert hit["chunk"]["source"] == f"{number}.txt"
        path = f"/knowledge_bases/{kb}/documents/{hit['document_id']}"
        assert f"number{number}" in service.call("GET", path).text
    service.ready(kb, "later.txt", b"Added after the restore.")


def test_a_stopped_directory_is_copied_and_started_elsewhere(tmp_path: Path) -> None:
    """A plain copy is a backup."""
    with service_on(tmp_path / "first") as service:
        kb = filled(service)
    shutil.copytree(tmp_path / "first", tmp_path / "second")
    shutil.rmtree(tmp_path / "first")
    with service_on(tmp_path / "second") as service:
        check_restored(service, kb)
        report = service.json("POST", "/operator/audit", params={"deep": True})
        assert report["clean"], report["findings"]


def test_a_directory_in_use_is_copied_while_documents_come_and_go(tmp_path: Path) -> None:
    """What was ready before the copy is ready in it; the audit takes care of the rest."""
    source = DataDirectory(tmp_path / "first")
    stop = threading.Event()
    with service_on(source.path) as service:
        kb = filled(service)

        def traffic() -> None:
            number = 0
            while not stop.is_set():
                number += 1
                sent = service.upload(kb, f"x{number}.txt", f"Passing by {number}.".encode())
                path = f"/knowledge_bases/{kb}/documents/{sent.json()['document_id']}"
                if number % 2:
                    service.call("DELETE", path)

        thread = threading.Thread(target=traffic)
        thread.start()
        try:
            copied = copy_directory(source, tmp_path / "second")
        finally:
            stop.set()
            thread.join()
        assert copied.collections == 1
        assert copied.files >= READY
    with service_on(tmp_path / "second") as service:
        listed = service.json("GET", f"/knowledge_bases/{kb}/documents?page_size=128")["documents"]
        for view in listed:
            service.settled(kb, view["id"])
        check_restored(service, kb)
        # What was deleted while it was copied may lack its file; nothing else is out of place.
        report = service.json("POST", "/operator/audit", params={"deep": True, "repair": True})
        assert all(f["subject"]["kind"] in ("document", "blob", "run") for f in report["findings"])


def test_a_target_that_holds_something_is_refused(tmp_path: Path) -> None:
    """Nothing is mixed, nothing is overwritten."""
    with service_on(tmp_path / "first"):
        pass
    (tmp_path / "second").mkdir()
    (tmp_path / "second" / "mine.txt").write_text("mine")
    with pytest.raises(InvalidInputError):
        copy_directory(DataDirectory(tmp_path / "first"), tmp_path / "second")
    nothing = CliRunner().invoke(
        main, ["backup", str(tmp_path / "third"), "--data-dir", str(tmp_path / "second")]
    )
    assert nothing.exit_code == 1
    assert "keeps no records in a file" in nothing.output
    done = CliRunner().invoke(
        main, ["backup", str(tmp_path / "third"), "--data-dir", str(tmp_path / "first")]
    )
    assert done.exit_code == 0, done.output
    assert (tmp_path / "third" / "records.sqlite").stat().st_mode & 0o077 == 0
