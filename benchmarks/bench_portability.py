"""Import and export of large knowledge bases: time, and memory of the service meanwhile.

The archive is made here, with vectors of the built-in model's shape and its fingerprint, so that
they are taken as they are. `python -m benchmarks.bench_portability [--documents 1000 10000]`.
"""

import argparse
import asyncio
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy
import psutil

from agentscope.app.rag.archive import layout
from agentscope.app.rag.archive.layout import Document, Embedding, Manifest, Settings
from agentscope.app.rag.archive.writer import ArchiveWriter
from agentscope.app.rag.knowledge_base_manager.models import fingerprint_fields
from agentscope.embedding.local import LocalEmbeddingModel
from agentscope.message.blocks import TextBlock
from agentscope.rag.document import Chunk
from agentscope.testing.live_service import LiveService
from agentscope.testing.processes import Served, serving
from benchmarks.figures import report

CHUNKS = 3
CHUNK_CHARS = 2000
PIECE = 256 * 1024
SAMPLE_SECONDS = 0.1
MEGABYTE = 1024 * 1024


def text_of(number: int) -> str:
    """Return the text of a document."""
    words = (f"word{(number * 7919 + n * 104729) % 50_000}" for n in range(CHUNKS * CHUNK_CHARS))
    text = ""
    for word in words:
        text += f"{word} "
        if len(text) >= CHUNKS * CHUNK_CHARS:
            return text[: CHUNKS * CHUNK_CHARS]
    return text


async def write_archive(path: Path, documents: int, embedding: Embedding) -> None:
    """Write an archive of so many documents."""
    writer, source = ArchiveWriter(modified=0), numpy.random.default_rng(7)
    with path.open("wb") as file:
        settings = Settings(name=f"{documents} documents", embedding=embedding)
        manifest = Manifest(
            format=layout.FORMAT,
            version=layout.VERSION,
            archive_id=f"{documents:032x}",
            created_at="",
            knowledge_base=settings,
        )
        file.writelines(writer.manifest(manifest))
        for number in range(documents):
            text = text_of(number)
            content = text.encode()
            name = f"{number}.txt"
            document = Document(
                id=f"d{number}", filename=name, size=len(content), chunks=CHUNKS,
                content_type="text/plain",
            )  # fmt: skip
            file.writelines(writer.document(document))
            async for piece in writer.original(len(content), once(content)):
                file.write(piece)
            chunks = [
                Chunk(
                    content=TextBlock(text=text[n * CHUNK_CHARS : (n + 1) * CHUNK_CHARS]),
                    source=name,
                    chunk_index=n,
                    total_chunks=CHUNKS,
                    metadata={"filename": name, "section_index": 0, "char_start": n * CHUNK_CHARS},
                )
                for n in range(CHUNKS)
            ]
            vectors = source.standard_normal((CHUNKS, embedding.dimensions)).tolist()
            file.writelines(writer.chunks(chunks, vectors))
            file.writelines(writer.end_document(complete=True))
        file.writelines(writer.end())


async def once(content: bytes) -> AsyncIterator[bytes]:
    """Yield one piece."""
    yield content


class Memory:
    """The resident memory of the service's process while a block runs."""

    def __init__(self, service: Served) -> None:
        assert service.popen is not None
        self._process = psutil.Process(service.popen.pid)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self.before = self.peak = 0

    def __enter__(self) -> "Memory":
        self.before = self.peak = self._process.memory_info().rss
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(SAMPLE_SECONDS):
            self.peak = max(self.peak, self._process.memory_info().rss)

    def figures(self) -> dict[str, int]:
        """Return MiB before, and at most."""
        return {"rss_before_mib": self.before // MEGABYTE, "rss_peak_mib": self.peak // MEGABYTE}


def pieces(path: Path) -> Iterator[bytes]:
    """Yield a file."""
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            yield piece


def measured(documents: int, folder: Path, embedding: Embedding) -> dict[str, Any]:
    """Import and export one archive in a fresh service."""
    archive = folder / f"{documents}.tar"
    asyncio.run(write_archive(archive, documents, embedding))
    size = archive.stat().st_size
    with (
        serving(folder / f"data{documents}") as service,
        httpx.Client(
            base_url=service.base_url, headers={"X-User-ID": "default"}, timeout=None,
            trust_env=False,
        ) as client,
    ):  # fmt: skip
        begun = time.monotonic()
        with Memory(service) as importing:
            answer = client.post("/knowledge_bases/import", content=pieces(archive))
        imported = time.monotonic() - begun
        assert answer.status_code == 201, answer.text
        made = answer.json()
        assert made["documents"]["carried"] == documents, made
        kb, received = made["knowledge_base_id"], 0
        begun = time.monotonic()
        with (
            Memory(service) as exporting,
            client.stream("GET", f"/knowledge_bases/{kb}/export") as stream,
        ):
            for piece in stream.iter_raw():
                received += len(piece)
        exported = time.monotonic() - begun
        assert LiveService(client).search(kb, text_of(documents // 2)[:60], mode="keyword")
    return {
        "documents": documents,
        "chunks": documents * CHUNKS,
        "archive_mb": round(size / 1e6, 1),
        "import": {
            "seconds": round(imported, 1),
            "documents_per_second": round(documents / imported, 1),
            **importing.figures(),
        },
        "export": {
            "seconds": round(exported, 1),
            "mb": round(received / 1e6, 1),
            **exporting.figures(),
        },
    }


async def built_in() -> Embedding:
    """Return the model that a service offers by itself, as an archive names it."""
    model = LocalEmbeddingModel()
    return Embedding(
        type="local_credential",
        model=model.model,
        dimensions=model.dimensions,
        fingerprint=fingerprint_fields(await model.fingerprint()),
    )


def main() -> None:
    """Measure every size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--write", action="store_true", help="Keep the figures.")
    given = parser.parse_args()
    embedding = asyncio.run(built_in())
    with tempfile.TemporaryDirectory() as folder:
        runs = [measured(count, Path(folder), embedding) for count in given.documents]
    report("portability", {"runs": runs}, packages=("numpy",))


if __name__ == "__main__":
    main()
