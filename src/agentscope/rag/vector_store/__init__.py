"""Vector stores: chunks with their vectors and terms, per collection and run.

base.py        the contract; testing/vector_store.py is its suite
filter.py      the one filter language; *_filter.py and filter_sql.py compile it
documented.py  what every store gets from a few calls of its own
memory.py      exact, in memory
embedded*.py   a directory per collection: SQLite rows, zvec index for large ones
qdrant*.py     a Qdrant server
pgvector*.py   PostgreSQL
legacy.py      adapts a user's store written to the documented contract
"""

from agentscope.rag.vector_store.base import RunVectorStore, VectorStoreBase
from agentscope.rag.vector_store.embedded import EmbeddedVectorStore
from agentscope.rag.vector_store.legacy import as_run_store
from agentscope.rag.vector_store.memory import InMemoryVectorStore
from agentscope.rag.vector_store.pgvector import PgVectorStore
from agentscope.rag.vector_store.qdrant import QdrantStore

__all__ = [
    "EmbeddedVectorStore",
    "InMemoryVectorStore",
    "PgVectorStore",
    "QdrantStore",
    "RunVectorStore",
    "VectorStoreBase",
    "as_run_store",
]
