"""Knowledge bases that their owners share."""

from agentscope.app.storage.sql.dialect import Dialect


def statements(dialect: Dialect) -> tuple[str, ...]:
    """Return the statements of this step."""
    text = dialect.text
    return (
        f"""CREATE TABLE shares (
            knowledge_base_id {text} NOT NULL, viewer_id {text} NOT NULL, owner_id {text} NOT NULL,
            permission TEXT NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL,
            PRIMARY KEY (knowledge_base_id, viewer_id))""",
        "CREATE INDEX shares_viewer ON shares (viewer_id, created_at, knowledge_base_id)",
    )
