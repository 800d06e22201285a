"""The bytes that uploads have set aside, per user."""

from agentscope.app.storage.sql.dialect import Dialect


def statements(dialect: Dialect) -> tuple[str, ...]:
    """Return the statements of this step; uploads of earlier versions set nothing aside."""
    del dialect
    return ("ALTER TABLE users ADD COLUMN arriving_bytes BIGINT NOT NULL DEFAULT 0",)
