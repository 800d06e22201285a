"""An index of the documents that failed, for the operator's view."""

from agentscope.app.storage.sql.dialect import Dialect


def statements(dialect: Dialect) -> tuple[str, ...]:
    """Return the statements of this step."""
    del dialect
    return ("CREATE INDEX documents_failed ON documents (id) WHERE status = 'error'",)
