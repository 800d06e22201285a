"""Runs the command line as the version after this one might be.

It brings two steps of the schema, one with a new column, and notes in every record it writes
something that this version knows nothing of: `python next_version.py worker ...`.
"""

from dataclasses import replace

from agentscope.app.records import DocumentRecord
from agentscope.app.storage.codec import dump_document
from agentscope.app.storage.sql import session, transaction
from agentscope.app.storage.sql.dialect import Dialect
from agentscope.app.storage.sql.migrations import STEPS
from agentscope.cli.entry import main

FIELD = "review"
LAST = STEPS[-1][0]


def _columns(dialect: Dialect) -> tuple[str, ...]:
    return (
        f"ALTER TABLE documents ADD COLUMN review {dialect.text}",
        "CREATE INDEX documents_review ON documents (review) WHERE review IS NOT NULL",
    )


def _tables(dialect: Dialect) -> tuple[str, ...]:
    return (f"CREATE TABLE reviews (id {dialect.text} PRIMARY KEY, note TEXT NOT NULL)",)


def _noted(record: DocumentRecord) -> str:
    return dump_document(replace(record, newer={**record.newer, FIELD: {"by": "nobody yet"}}))


def become_next() -> None:
    """Change this process into one of the next version."""
    setattr(session, "STEPS", (*STEPS, (LAST + 1, _columns), (LAST + 2, _tables)))  # noqa: B010
    setattr(transaction, "dump_document", _noted)  # noqa: B010


if __name__ == "__main__":
    become_next()
    main(prog_name="agentscope-rag")
