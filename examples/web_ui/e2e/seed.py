"""Fill a knowledge base of a stopped service with copies of its only document.

Usage: seed.py DATA_DIR KNOWLEDGE_BASE_ID HOW_MANY
"""

import json
import sqlite3
import sys
import uuid
from pathlib import Path

folder, knowledge_base, many = sys.argv[1], sys.argv[2], int(sys.argv[3])
with sqlite3.connect(Path(folder) / "records.sqlite") as database:
    cursor = database.execute("SELECT * FROM documents WHERE knowledge_base_id = ?", (knowledge_base,))
    columns = [column[0] for column in cursor.description]
    model = dict(zip(columns, cursor.fetchone(), strict=True))
    rows = []
    for number in range(many):
        row = dict(model)
        body = json.loads(row["body"])
        name = f"note {number:05d}.md"
        row["id"] = body["id"] = uuid.uuid4().hex
        row["name"] = body["filename"] = name
        row["created_at"] += number + 1
        row["due_at"] = None
        body["due_at"] = None
        row["body"] = json.dumps(body, ensure_ascii=False)
        rows.append(tuple(row[column] for column in columns))
    marks = ", ".join("?" * len(columns))
    database.executemany(f"INSERT INTO documents VALUES ({marks})", rows)
    chunks, size = many * model["chunk_count"], many * model["size"]
    for table, key, value in (
        ("knowledge_base_counts", "id", knowledge_base),
        ("users", "user_id", model["user_id"]),
    ):
        database.execute(
            f"UPDATE {table} SET documents = documents + ?, chunks = chunks + ?,"
            f" size_bytes = size_bytes + ?, ready = ready + ? WHERE {key} = ?",
            (many, chunks, size, many, value),
        )
