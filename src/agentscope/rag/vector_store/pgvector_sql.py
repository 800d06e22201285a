"""The tables and statements of the PostgreSQL vector store."""

from agentscope.rag.vector_store.pgvector_rows import COLUMNS, NAMES, TERM_SPACE

CREATION_LOCK = 7_244_190_331
GRAPH_LOCK = 724_419_033
MAX_GRAPH_DIMENSIONS = 2000
MAX_HALF_GRAPH_DIMENSIONS = 4000
MOST_COUNTED = 2_000
SCORE_UNIT = 1_000_000

REGISTRY = """
CREATE TABLE IF NOT EXISTS agentscope_collections (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    dimensions INTEGER NOT NULL
)
"""

# One for each connection, emptied by each commit: rows come in by COPY, which cannot replace.
INCOMING = f"""
CREATE TEMPORARY TABLE IF NOT EXISTS agentscope_incoming ({COLUMNS}) ON COMMIT DELETE ROWS
"""
COPY = "COPY agentscope_incoming FROM STDIN WITH (FORMAT binary)"
REPLACED = ", ".join(
    f"{name} = EXCLUDED.{name}"
    for name in ("epoch", "kb_id", "chunk", "metadata", "facets", "numbers", "terms", "weights")
)
MERGE = f"""
INSERT INTO {{table}} ({NAMES}) SELECT {NAMES} FROM agentscope_incoming
ON CONFLICT (id) DO UPDATE SET {REPLACED}, embedding = EXCLUDED.embedding
"""  # noqa: S608 -- our own names

RUN_VECTORS = """
SELECT embedding::real[] FROM {table} WHERE document_id = %s AND run_id = %s
ORDER BY chunk_index LIMIT %s OFFSET %s
"""

ROWS = """
SELECT (SELECT count(*) FROM (SELECT 1 FROM {table} LIMIT %s) AS few),
    (SELECT reltuples FROM pg_class WHERE oid = '{table}'::regclass)
"""

# How many rows have each term. Of a common one the first rows are counted, in the order of the
# file, and the rest is taken to be like them.
FREQUENCIES = f"""
SELECT q.term, CASE WHEN counted.found < {MOST_COUNTED} THEN counted.found
    ELSE counted.found * pg_relation_size('{{table}}')
        / (8192 * (1 + (counted.last::text::point)[0])) END
FROM unnest(%s::integer[]) AS q(term) CROSS JOIN LATERAL (
    SELECT count(*) AS found, max(place) AS last FROM (
        SELECT ctid AS place FROM {{table}} WHERE terms @> ARRAY[q.term] LIMIT {MOST_COUNTED}
    ) AS few
) AS counted
"""  # noqa: S608 -- our own names

ORDER = 'document_id COLLATE "C", chunk_index, run_id COLLATE "C"'

# Rows are scored in C: the query's idf times the row's weights. Scores are whole millionths, so
# that their last digits do not depend on the order of summation.
KEYWORD = f"""
SELECT score, document_id, run_id, chunk FROM (
    SELECT floor(-(weights <#> %s::sparsevec) * {SCORE_UNIT} + 0.5) AS score, document_id, run_id,
        chunk_index, chunk
    FROM {{table}} WHERE terms && %s::integer[] AND {{condition}} LIMIT {{most}}
) AS scored WHERE score > 0 ORDER BY score DESC, {ORDER} LIMIT %s
"""  # noqa: S608 -- compiled

# The zero vector has no direction; its similarity to anything is 0, not NaN.
SIMILARITY = (
    "COALESCE(floor(NULLIF(1 - (embedding <=> %s::vector), 'NaN'::float8)"
    f" * {SCORE_UNIT} + 0.5), 0)"
)

STORED_RUNS = """
SELECT document_id, run_id, epoch, count(*) FROM {table}
WHERE (document_id COLLATE "C", run_id COLLATE "C") >= (%s, %s)
GROUP BY document_id, run_id, epoch
HAVING (document_id COLLATE "C", run_id COLLATE "C", epoch) > (%s, %s, %s)
ORDER BY document_id COLLATE "C", run_id COLLATE "C", epoch LIMIT %s
"""

SCAN = """
SELECT document_id, run_id, chunk_index, chunk FROM {table}
WHERE (document_id COLLATE "C", run_id COLLATE "C", chunk_index) > (%s, %s, %s) AND {condition}
ORDER BY document_id COLLATE "C", run_id COLLATE "C", chunk_index LIMIT %s
"""


def table_name(number: int) -> str:
    """Return the table of a collection."""
    return f"agentscope_points_{number:d}"


def table_statements(table: str, dimensions: int) -> list[str]:
    """Return what creates the table of a collection with its indexes, except for the graph."""
    return [
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
            terms INTEGER[] NOT NULL,
            weights sparsevec({TERM_SPACE:d}) NOT NULL,
            embedding vector({dimensions:d}) NOT NULL
        )
        """,
        # In the row as far as it fits: fetched from aside, vectors are compared at half the speed.
        f"ALTER TABLE {table} ALTER COLUMN embedding SET STORAGE MAIN",
        f"CREATE INDEX {table}_run ON {table}"
        ' (document_id COLLATE "C", run_id COLLATE "C", chunk_index)',
        f"CREATE INDEX {table}_document ON {table} (document_id, run_id, epoch)",
        f"CREATE INDEX {table}_kb ON {table} (kb_id) WHERE kb_id IS NOT NULL",
        # Every search reads the list of pending entries from end to end, so it is kept short.
        f"CREATE INDEX {table}_facets ON {table} USING gin (facets)"
        " WITH (gin_pending_list_limit = 256)",
        f"CREATE INDEX {table}_terms ON {table} USING gin (terms)"
        " WITH (gin_pending_list_limit = 256)",
    ]


def graph_statement(table: str, dimensions: int) -> str:
    """Return what builds the graph of up to 4000 dimensions while others write."""
    head = f"CREATE INDEX CONCURRENTLY {table}_graph ON {table} USING hnsw"
    if dimensions <= MAX_GRAPH_DIMENSIONS:
        return f"{head} (embedding vector_cosine_ops)"
    return f"{head} ((embedding::halfvec({dimensions:d})) halfvec_cosine_ops)"


def distance(dimensions: int) -> str:
    """Return the expression that the graph of a collection orders by."""
    if MAX_GRAPH_DIMENSIONS < dimensions <= MAX_HALF_GRAPH_DIMENSIONS:
        kind = f"halfvec({dimensions:d})"
        return f"(embedding::{kind}) <=> %s::{kind}"
    return "embedding <=> %s::vector"
