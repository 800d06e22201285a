"""Writes a data directory as the first version did: frozen schema, records, vectors and files.

Nothing here uses the code that writes such data today, so a change of format cannot hide.
"""

import hashlib
import json
import sqlite3
import struct
from pathlib import Path
from typing import Any

from agentscope.testing.embedding import hashed_vector

USER = "alice"
KB = "a" * 32
RUN = "b" * 32
COLLECTION = f"kb_{KB}_1"
DIMENSIONS = 64
AT = 1_700_000_000_000_000
SCHEMA = Path(__file__).with_name("first_schema.sql")
VECTORS = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE points (
    id INTEGER PRIMARY KEY AUTOINCREMENT, document_id TEXT NOT NULL, run_id TEXT NOT NULL,
    chunk_index INTEGER NOT NULL, epoch INTEGER NOT NULL, kb_id TEXT, metadata TEXT NOT NULL,
    UNIQUE (document_id, run_id, chunk_index)
);
CREATE INDEX points_kb_id ON points (kb_id) WHERE kb_id IS NOT NULL;
CREATE TABLE vectors (id INTEGER PRIMARY KEY, vector BLOB NOT NULL);
CREATE TABLE chunks (id INTEGER PRIMARY KEY, chunk BLOB NOT NULL);
CREATE TABLE journal (id INTEGER PRIMARY KEY);
CREATE VIRTUAL TABLE words USING fts5(
    terms, content = '', tokenize = "ascii tokenchars '-._'"
);
INSERT INTO meta VALUES ('dimensions', '64'), ('format', '1'), ('terms', '1/14.0.0');
"""
READY, PENDING, FAILED = "1" * 32, "2" * 32, "3" * 32
TEXTS = {READY: "Annual leave is 25 days.", PENDING: "Trips are booked early.", FAILED: " "}


def write(folder: Path) -> None:
    """Write the directory."""
    folder.mkdir(parents=True)
    for document_id, text in TEXTS.items():
        path = folder / "blobs" / "kb" / KB / document_id / "1"
        path.parent.mkdir(parents=True)
        path.write_text(text)
    _write_vectors(folder / "vectors" / COLLECTION)
    with sqlite3.connect(folder / "records.sqlite") as records:
        records.execute("PRAGMA journal_mode=WAL")
        records.executescript(SCHEMA.read_text())
        records.execute(
            "CREATE TABLE schema_steps (number INTEGER PRIMARY KEY, applied_at BIGINT NOT NULL)"
        )
        records.execute("INSERT INTO schema_steps VALUES (1, ?)", (AT,))
        _write_records(records)
    records.close()


def _write_vectors(folder: Path) -> None:
    folder.mkdir(parents=True)
    text = TEXTS[READY]
    with sqlite3.connect(folder / "collection.sqlite") as rows:
        rows.execute("PRAGMA journal_mode=WAL")
        rows.executescript(VECTORS)
        metadata = {"filename": "leave.txt", "media_type": "text/plain", "size_bytes": len(text)}
        chunk = {
            "content": {
                "type": "text", "text": text, "id": "c" * 32, "created_at": "2023-11-14T22:13:20",
                "finished_at": None,
            },
            "source": "leave.txt", "chunk_index": 0, "total_chunks": 1, "metadata": metadata,
        }  # fmt: skip
        rows.execute(
            "INSERT INTO points VALUES (1, ?, ?, 0, 1, ?, ?)",
            (READY, RUN, KB, json.dumps(metadata)),
        )
        vector = struct.pack(f"<{DIMENSIONS}f", *hashed_vector(text, DIMENSIONS))
        rows.execute("INSERT INTO vectors VALUES (1, ?)", (vector,))
        rows.execute("INSERT INTO chunks VALUES (1, ?)", (json.dumps(chunk).encode(),))
        rows.execute("INSERT INTO words (rowid, terms) VALUES (1, 'annual leav 25 day')")
    rows.close()


def _write_records(records: sqlite3.Connection) -> None:
    base = {
        "id": KB, "user_id": USER, "name": "Rules",
        "embedding_model_config": {
            "type": "local_credential", "credential_id": "local", "model": "fake-embedding",
            "dimensions": DIMENSIONS, "parameters": {},
        },
        "collection_name": COLLECTION, "status": "active", "created_at": AT, "updated_at": AT,
        "version": 2,
    }  # fmt: skip
    records.execute(
        "INSERT INTO knowledge_bases VALUES (?, ?, 'active', NULL, ?, ?, 'rules', ?)",
        (KB, USER, AT, AT, json.dumps(base)),
    )
    _write_document(
        records,
        READY,
        "leave.txt",
        {
            "status": "ready", "epoch": 1, "run_id": RUN, "active_run_id": RUN, "active_epoch": 1,
            "chunk_count": 1, "progress_stage": "ready", "progress_done": 1, "progress_total": 1,
            "progress_unit": "chunk",
        },
    )  # fmt: skip
    _write_document(records, PENDING, "trips.txt", {"status": "pending", "due_at": AT})
    failure = {"code": "no_text", "message": "No text.", "stage": "parsing", "retryable": False}
    _write_document(
        records, FAILED, "blank.txt", {"status": "error", "epoch": 2, "failure": failure}
    )
    size = sum(len(text) for text in TEXTS.values())
    counts = (3, 1, size, 1, 0, 0, 0, 1, 1)
    records.execute(
        "INSERT INTO knowledge_base_counts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (KB, *counts)
    )
    records.execute(
        "INSERT INTO users VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 0, 0, 1, 1)", (USER, *counts)
    )
    event = {
        "user_id": USER, "knowledge_base_id": KB, "type": "knowledge_base.created", "at": AT,
        "data": {"name": "Rules"},
    }  # fmt: skip
    records.execute("INSERT INTO events VALUES (?, 1, ?, ?, ?)", (USER, AT, KB, json.dumps(event)))


def _write_document(
    records: sqlite3.Connection, document_id: str, filename: str, fields: dict[str, Any]
) -> None:
    text = TEXTS[document_id]
    sha = hashlib.sha256(text.encode()).hexdigest()
    body = {
        "id": document_id, "user_id": USER, "knowledge_base_id": KB, "filename": filename,
        "size": len(text), "content_type": "text/plain",
        "blob_uri": f"local://kb/{KB}/{document_id}/1", "content_sha256": sha,
        "created_at": AT, "updated_at": AT, "version": 4, **fields,
    }  # fmt: skip
    queue = int(fields["status"] == "pending")
    row = (
        document_id, USER, KB, fields["status"], 1, queue, 0, fields.get("due_at"), AT, AT,
        filename, len(text), fields.get("chunk_count", 0), "text/plain", sha, json.dumps(body),
    )  # fmt: skip
    marks = ", ".join("?" * len(row))
    records.execute(f"INSERT INTO documents VALUES ({marks})", row)
