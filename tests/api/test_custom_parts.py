"""A user's own blob store, parser, chunker and vector store work through `create_app`."""

import io
import logging
import shutil
from collections.abc import AsyncIterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

import pytest
from pydantic import BaseModel

from agentscope.app import create_app
from agentscope.app.message_bus import InMemoryMessageBus
from agentscope.app.rag.blob_store import AsyncReadable, BlobStoreBase, LocalBlobStore
from agentscope.app.storage import InMemoryStorage
from agentscope.app.workspace_manager import LocalWorkspaceManager
from agentscope.credential import CredentialBase
from agentscope.errors import ConfigurationError
from agentscope.message import TextBlock
from agentscope.rag.chunker.approx_token import ApproxTokenChunker
from agentscope.rag.chunker.base import ChunkerBase
from agentscope.rag.document import (
    Chunk,
    DocumentSummary,
    Section,
    VectorRecord,
    VectorSearchResult,
)
from agentscope.rag.parser.base import ParserBase
from agentscope.rag.parser.pdf import PDFParser
from agentscope.rag.parser.text import TextParser
from agentscope.rag.vector_store.base import VectorStoreBase
from agentscope.testing.rest import (
    DIMENSIONS,
    SECRET_KEY,
    FakeModelsManager,
    RestService,
    memory_app,
)


class FolderBlobs(BlobStoreBase):
    """Written against the documented contract alone."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    async def write_stream(self, key: str, stream: BinaryIO) -> str:
        path = self.folder / key.replace("/", "_")
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            shutil.copyfileobj(stream, file)
        return f"folder://{path.name}"

    def _path(self, uri: str) -> Path:
        return self.folder / uri.removeprefix("folder://")

    @asynccontextmanager
    async def _opened(self, uri: str) -> AsyncIterator[AsyncReadable]:
        content = io.BytesIO(self._path(uri).read_bytes())

        class Reader:
            async def read(self, n: int = -1) -> bytes:
                return content.read(n)

        yield Reader()

    def open(self, uri: str) -> Any:
        return self._opened(uri)

    async def delete(self, uri: str) -> None:
        self._path(uri).unlink(missing_ok=True)

    async def exists(self, uri: str) -> bool:
        return self._path(uri).exists()


class ShoutingParser(ParserBase):
    """One section in capitals."""

    supported_media_types: ClassVar[list[str]] = ["application/x-shout"]

    @classmethod
    def supported_extensions(cls) -> list[str]:
        return [".shout"]

    async def parse(self, file: bytes | str, filename: str) -> list[Section]:
        content = file if isinstance(file, bytes) else Path(file).read_bytes()
        return [Section(content=TextBlock(text=content.decode().upper()), source=filename)]


class WordChunker(ChunkerBase):
    """One chunk per so many words; not known by a type, as in the first release."""

    async def chunk(self, sections: list[Section]) -> list[Chunk]:
        words = [
            (section, word)
            for section in sections
            if isinstance(section.content, TextBlock)
            for word in section.content.text.split()
        ]
        return [
            Chunk(
                content=TextBlock(text=word),
                source=section.source,
                chunk_index=index,
                total_chunks=len(words),
                metadata=dict(section.metadata),
            )
            for index, (section, word) in enumerate(words)
        ]


class ListStore(VectorStoreBase):
    """Written against the documented contract alone; `delete` as in the first release."""

    def __init__(self) -> None:
        self.collections: dict[str, list[VectorRecord]] = {}

    async def create_collection(self, name: str, dimensions: int) -> None:
        self.collections.setdefault(name, [])

    async def delete_collection(self, name: str) -> None:
        self.collections.pop(name, None)

    async def has_collection(self, name: str) -> bool:
        return name in self.collections

    async def insert(self, collection: str, records: list[VectorRecord]) -> None:
        self.collections[collection].extend(records)

    async def delete(self, collection: str, document_id: str) -> None:  # type: ignore[override]  # the first release's signature
        kept = [r for r in self.collections.get(collection, []) if r.document_id != document_id]
        self.collections[collection] = kept

    async def search(
        self,
        collection: str,
        query_vector: list[float],
        top_k: int = 5,
        metadata_filter: dict[str, Any] | None = None,
    ) -> list[VectorSearchResult]:
        def passes(record: VectorRecord) -> bool:
            wanted = (metadata_filter or {}).items()
            return all(record.chunk.metadata.get(key) == value for key, value in wanted)

        hits = [
            VectorSearchResult(
                score=sum(a * b for a, b in zip(record.vector, query_vector, strict=True)),
                document_id=record.document_id,
                chunk=record.chunk,
            )
            for record in self.collections[collection]
            if passes(record)
        ]
        return sorted(hits, key=lambda hit: -hit.score)[:top_k]

    async def list_documents(
        self, collection: str, metadata_filter: dict[str, Any] | None = None
    ) -> list[DocumentSummary]:
        grouped: dict[str, list[Chunk]] = {}
        for record in self.collections[collection]:
            wanted = (metadata_filter or {}).items()
            if all(record.chunk.metadata.get(key) == value for key, value in wanted):
                grouped.setdefault(record.document_id, []).append(record.chunk)
        return [
            DocumentSummary(
                document_id=name,
                source=chunks[0].source,
                chunk_count=len(chunks),
                metadata=chunks[0].metadata,
            )
            for name, chunks in sorted(grouped.items())
        ]


def test_own_blob_store_parser_and_chunker(tmp_path: Path) -> None:
    """Upload, index, search, download and delete through all three."""
    app = memory_app(
        tmp_path,
        blob_store=FolderBlobs(tmp_path / "own"),
        knowledge_parsers=[TextParser(), ShoutingParser()],
        knowledge_chunker=WordChunker(),
    )
    with RestService(app) as service:
        types = service.json("GET", "/knowledge_bases/supported_content_types")
        assert ".shout" in types["extensions"]
        kb = service.knowledge_base()
        document = service.ready(kb, "a.shout", b"three little words")
        path = f"/knowledge_bases/{kb}/documents/{document}"
        chunks = service.json("GET", f"{path}/chunks")["chunks"]
        assert [chunk["content"]["text"] for chunk in chunks] == ["THREE", "LITTLE", "WORDS"]
        found = service.json("POST", f"/knowledge_bases/{kb}/search", json={"query": "LITTLE"})
        assert found["results"][0]["chunk"]["chunk_index"] == 1
        assert service.call("GET", path).content == b"three little words"
        assert service.call("DELETE", path).status_code == 204


def test_own_vector_store(tmp_path: Path) -> None:
    """One written for the first release, without runs, filters or chunk lists."""
    with RestService(memory_app(tmp_path, vector_store=ListStore())) as service:
        kb = service.knowledge_base()
        kept = service.ready(kb, "kept.txt", b"alpha words here")
        gone = service.ready(kb, "gone.txt", b"alpha words there")
        assert service.call("DELETE", f"/knowledge_bases/{kb}/documents/{gone}").status_code == 204
        found = service.json("POST", f"/knowledge_bases/{kb}/search", json={"query": "alpha"})
        assert {hit["document_id"] for hit in found["results"]} == {kept}
        chunks = service.call("GET", f"/knowledge_bases/{kb}/documents/{kept}/chunks")
        assert chunks.status_code in (200, 501)


def test_a_chunker_instance_is_the_default_with_its_parameters(tmp_path: Path) -> None:
    """The documented single-chunker form honours what the instance was made with."""
    app = memory_app(tmp_path, knowledge_chunker=ApproxTokenChunker(chunk_size=128, overlap=16))
    with RestService(app) as service:
        kb = service.knowledge_base()
        config = service.json("GET", f"/knowledge_bases/{kb}")["chunker_config"]
        assert config == {
            "type": "approx_token",
            "parameters": {"chunk_size": 128, "overlap": 16},
        }
        document = service.ready(kb, "a.txt", b"words " * 1000)
        path = f"/knowledge_bases/{kb}/documents/{document}/chunks"
        assert service.json("GET", path)["total"] > 10
        schema = service.json("GET", "/knowledge_bases/chunkers")["chunkers"][0]
        assert schema["parameter_schema"]["properties"]["chunk_size"]["default"] == 128


class Sized(ChunkerBase):
    """Cuts by characters."""

    chunker_type: ClassVar[str] = "sized"

    class Parameters(BaseModel):
        characters: int = 10

    def __init__(self, parameters: Parameters | None = None) -> None:
        self.parameters = parameters or self.Parameters()

    async def chunk(self, sections: list[Section]) -> list[Chunk]:
        size = self.parameters.characters
        text = "".join(s.content.text for s in sections if isinstance(s.content, TextBlock))
        pieces = [text[start : start + size] for start in range(0, len(text), size)]
        return [
            Chunk(content=TextBlock(text=piece), source="", chunk_index=i, total_chunks=len(pieces))
            for i, piece in enumerate(pieces)
        ]


def test_a_knowledge_base_chooses_among_chunker_classes(tmp_path: Path) -> None:
    """In the order given, the first by default; the same type twice is a mistake."""
    app = memory_app(tmp_path, knowledge_chunkers=[ApproxTokenChunker, Sized])
    with RestService(app) as service:
        offered = service.json("GET", "/knowledge_bases/chunkers")["chunkers"]
        assert [chunker["type"] for chunker in offered] == ["approx_token", "sized"]
        kb = service.knowledge_base(
            chunker_config={"type": "sized", "parameters": {"characters": 4}}
        )
        document = service.ready(kb, "a.txt", b"0123456789")
        path = f"/knowledge_bases/{kb}/documents/{document}/chunks"
        assert service.json("GET", path)["total"] == 3
    with pytest.raises(ConfigurationError):
        memory_app(tmp_path, knowledge_chunkers=[ApproxTokenChunker, ApproxTokenChunker])


def test_without_a_manager_there_are_no_knowledge_base_routes(tmp_path: Path) -> None:
    """They are unknown, and health says that the feature is off."""
    app = memory_app(tmp_path, knowledge_base_manager=None, blob_store=None)
    with RestService(app) as service:
        assert service.call("GET", "/knowledge_bases/").status_code == 404
        assert service.json("GET", "/health")["components"]["knowledge_base"] == "disabled"
        assert service.json("GET", "/credential/")["total"] == 0


def test_an_api_without_parsers_and_worker_takes_any_file(tmp_path: Path) -> None:
    """The distributed form: workers say what they can read."""
    app = memory_app(tmp_path, enable_index_worker=False)
    with RestService(app) as service:
        kb = service.knowledge_base()
        sent = service.upload(kb, "x.xyz", b"anything", media_type="application/x-xyz")
        assert (sent.status_code, sent.json()["status"]) == (201, "pending")
        assert service.json("GET", "/knowledge_bases/supported_content_types")["extensions"] == []
        parts = app.state.agentscope.parts
        entry = {"media_types": ["application/x-xyz"], "extensions": [".xyz"]}
        service.run(parts.service.storage.registry.put("worker/types/a", entry))
        types = service.json("GET", "/knowledge_bases/supported_content_types")
        assert types["extensions"] == [".xyz"]


class NoteCredential(CredentialBase):
    """A type that an embedder adds."""

    type: str = "note_credential"
    note: str = ""


def test_every_documented_argument_is_taken(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Agent-side ones with one log line, unknown ones with one warning."""
    storage = InMemoryStorage()
    manager = FakeModelsManager(storage, ListStore())
    with caplog.at_level(logging.INFO, logger="agentscope"), ProcessPoolExecutor(2) as pool:
        app = create_app(
            storage,
            InMemoryMessageBus(),
            LocalWorkspaceManager(str(tmp_path / "work")),
            manager,
            {"text/plain": TextParser(), "application/x-alias": TextParser()},
            [ApproxTokenChunker],
            LocalBlobStore(str(tmp_path / "blobs")),
            True,
            [object()],
            None,
            extra_middlewares=[],
            resource_access_policy=None,
            download_secret="a secret",
            title="Mine",
            version="9.9",
            enable_channel_worker=False,
            enable_scheduler=True,
            custom_agent_cls=object,
            parser_executor=pool,
            surprise=1,
            secret_key=SECRET_KEY,
        )
    events = [record.message for record in caplog.records]
    assert events.count("agent_arguments_ignored") == 1
    assert events.count("unknown_arguments_ignored") == 1
    with RestService(app) as service:
        health = service.json("GET", "/health")
        assert (health["version"], health["components"]["workspace_manager"]) == ("9.9", "ok")
        types = service.json("GET", "/knowledge_bases/supported_content_types")
        assert "application/x-alias" in types["media_types"]
        assert service.json("GET", "/openapi.json")["info"]["title"] == "Mine"


def test_the_single_process_form_of_the_documentation(tmp_path: Path) -> None:
    """The printed set-up with embedded stand-ins for the servers it names."""
    storage = InMemoryStorage()
    manager = FakeModelsManager(storage=storage, vector_store=ListStore())
    app = create_app(
        storage=storage,
        message_bus=InMemoryMessageBus(),
        workspace_manager=LocalWorkspaceManager(basedir=str(tmp_path / "workspaces")),
        knowledge_base_manager=manager,
        knowledge_parsers=[TextParser(), PDFParser()],
        knowledge_chunker=ApproxTokenChunker(chunk_size=512, overlap=50),
        blob_store=LocalBlobStore(root_dir=str(tmp_path / "blobs")),
        secret_key=SECRET_KEY,
    )
    with RestService(app) as service:
        kb = service.knowledge_base()
        document = service.ready(kb, "a.md", b"# Title\nsome words", media_type="text/markdown")
        found = service.json("POST", f"/knowledge_bases/{kb}/search", json={"query": "words"})
        assert found["results"][0]["document_id"] == document
    assert manager.model.dimensions == DIMENSIONS
