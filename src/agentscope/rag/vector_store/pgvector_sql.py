"""The tables of the PostgreSQL vector store and what goes into a row."""

import json
from typing import Any

from pydantic_core import to_json

from agentscope.rag.document import Chunk, Point
from agentscope.rag.vector_store.facets import facets, numbers
from agentscope.rag.vector_store.points import chunk_text, point_id
from agentscope.rag.vector_store.sparse import document_weights

CREATION_LOCK = 7_244_190_331
MAX_GRAPH_DIMENSIONS = 2000
MAX_HALF_GRAPH_DIMENSIONS = 4000

REGISTRY = """
CREATE TABLE IF NOT EXISTS agentscope_vector_collections (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    dimensions INTEGER NOT NULL
)
"""

INSERT = """
INSERT INTO {table} (id, document_id, run_id, epoch, chunk_index, kb_id, chunk, metadata, facets,
    numbers, terms, weights, embedding)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s::jsonb, %s, %s::jsonb, %s, %s, %s::vector)
ON CONFLICT (id) DO UPDATE SET epoch = EXCLUDED.epoch, kb_id = EXCLUDED.kb_id,
    chunk = EXCLUDED.chunk, metadata = EXCLUDED.metadata, facets = EXCLUDED.facets,
    numbers = EXCLUDED.numbers, terms = EXCLUDED.terms, weights = EXCLUDED.weights,
    embedding = EXCLUDED.embedding
"""

RUN_VECTORS = """
SELECT embedding::real[] FROM {table} WHERE document_id = %s AND run_id = %s
ORDER BY chunk_index LIMIT %s OFFSET %s
"""

# The zero vector has no direction; its similarity to anything is 0, not NaN.
SIMILARITY = "COALESCE(round(NULLIF(1 - (embedding <=> %s::vector), 'NaN'::float8)::numeric, 6), 0)"
ORDER = 'document_id COLLATE "C", chunk_index, run_id COLLATE "C"'


def table_name(number: int) -> str:
    """Return the table of a collection."""
    return f"agentscope_vectors_{number:d}"


def table_statements(table: str, dimensions: int) -> list[str]:
    """Return what creates the table of a collection with its indexes."""
    statements = [
        f"""
        CREATE TABLE {table} (
            id UUID PRIMARY KEY,
            document_id TEXT NOT NULL,
            run_id TEXT NOT NULL,
            epoch BIGINT NOT NULL,
            chunk_index INTEGER NOT NULL,
            kb_id TEXT,
            chunk TEXT NOT NULL,
            metadata JSONB NOT NULL,
            facets TEXT[] NOT NULL,
            numbers JSONB NOT NULL,
            terms BIGINT[] NOT NULL,
            weights REAL[] NOT NULL,
            embedding vector({dimensions:d}) NOT NULL
        )
        """,
        f"CREATE INDEX {table}_run ON {table}"
        ' (document_id COLLATE "C", run_id COLLATE "C", chunk_index)',
        f"CREATE INDEX {table}_document ON {table} (document_id, run_id, epoch)",
        f"CREATE INDEX {table}_kb ON {table} (kb_id) WHERE kb_id IS NOT NULL",
        f"CREATE INDEX {table}_facets ON {table} USING gin (facets)",
        f"CREATE INDEX {table}_terms ON {table} USING gin (terms)",
    ]
    if dimensions <= MAX_GRAPH_DIMENSIONS:
        statements.append(
            f"CREATE INDEX {table}_graph ON {table} USING hnsw (embedding vector_cosine_ops)"
        )
    elif dimensions <= MAX_HALF_GRAPH_DIMENSIONS:
        statements.append(
            f"CREATE INDEX {table}_graph ON {table}"
            f" USING hnsw ((embedding::halfvec({dimensions:d})) halfvec_cosine_ops)"
        )
    return statements


def distance(dimensions: int) -> str:
    """Return the expression that the graph of a collection orders by."""
    if MAX_GRAPH_DIMENSIONS < dimensions <= MAX_HALF_GRAPH_DIMENSIONS:
        kind = f"halfvec({dimensions:d})"
        return f"(embedding::{kind}) <=> %s::{kind}"
    return "embedding <=> %s::vector"


def vector_text(vector: list[float]) -> str:
    """Return a vector as pgvector reads it."""
    return f"[{','.join(map(repr, map(float, vector)))}]"


def row(point: Point) -> tuple[Any, ...]:
    """Return the values of one point, in the order of `INSERT`."""
    metadata = point.chunk.metadata
    weights = document_weights(chunk_text(point.chunk))
    own = point.knowledge_base_id or metadata.get("kb_id")
    return (
        point_id(point.document_id, point.run.run_id, point.chunk.chunk_index),
        point.document_id,
        point.run.run_id,
        point.run.epoch,
        point.chunk.chunk_index,
        own if isinstance(own, str) else None,
        to_json(point.chunk, inf_nan_mode="null").decode(),
        _jsonb(metadata),
        facets(metadata),
        json.dumps(numbers(metadata)),
        list(weights),
        list(weights.values()),
        vector_text(point.vector),
    )


def chunk_of(value: str) -> Chunk:
    """Return the chunk of a row."""
    return Chunk.model_validate_json(value)


def _jsonb(metadata: dict[str, Any]) -> str:
    """Return JSON without NUL, which PostgreSQL cannot keep; the chunk itself still has it."""
    text = to_json(metadata, inf_nan_mode="null").decode()
    return text.replace("\\u0000", " ") if "\\u0000" in text else text
