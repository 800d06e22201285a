"""Records, counters, the outbox and the registry."""

from agentscope.app.storage.sql.dialect import Dialect

_COUNTERS = """
    documents BIGINT NOT NULL DEFAULT 0,
    chunks BIGINT NOT NULL DEFAULT 0,
    size_bytes BIGINT NOT NULL DEFAULT 0,
    pending BIGINT NOT NULL DEFAULT 0,
    parsing BIGINT NOT NULL DEFAULT 0,
    chunking BIGINT NOT NULL DEFAULT 0,
    indexing BIGINT NOT NULL DEFAULT 0,
    ready BIGINT NOT NULL DEFAULT 0,
    error BIGINT NOT NULL DEFAULT 0
"""


def statements(dialect: Dialect) -> tuple[str, ...]:
    """Return the statements of this step.

    Columns beside `body` repeat fields of the record that queries need. `queue` is 1 for a
    worker, 0 for a sweeper; `alone` says that the next run must have nothing beside it.
    """
    text = dialect.text
    extra = ("CREATE SEQUENCE turns",) if dialect.name == "postgres" else ()
    return (
        *extra,
        f"""CREATE TABLE knowledge_bases (
            id {text} PRIMARY KEY, user_id {text} NOT NULL, status TEXT NOT NULL,
            due_at BIGINT, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL,
            name {text} NOT NULL, body TEXT NOT NULL,
            CHECK (status = 'active' OR due_at IS NOT NULL))""",
        """CREATE INDEX knowledge_bases_page
            ON knowledge_bases (user_id, status, created_at, id)""",
        """CREATE INDEX knowledge_bases_due
            ON knowledge_bases (due_at, id) WHERE due_at IS NOT NULL""",
        f"""CREATE TABLE documents (
            id {text} PRIMARY KEY, user_id {text} NOT NULL, knowledge_base_id {text} NOT NULL,
            status TEXT NOT NULL, visible INTEGER NOT NULL, queue INTEGER NOT NULL,
            alone INTEGER NOT NULL, due_at BIGINT, created_at BIGINT NOT NULL,
            updated_at BIGINT NOT NULL, name {text} NOT NULL, size BIGINT NOT NULL,
            chunk_count BIGINT NOT NULL, content_type TEXT, sha TEXT, body TEXT NOT NULL,
            CHECK (status IN ('ready', 'error') OR due_at IS NOT NULL))""",
        "CREATE INDEX documents_due ON documents (queue, due_at, id) WHERE due_at IS NOT NULL",
        """CREATE INDEX documents_turn
            ON documents (user_id, due_at, created_at, id) WHERE queue = 1""",
        "CREATE INDEX documents_page ON documents (knowledge_base_id, visible, created_at, id)",
        "CREATE INDEX documents_all ON documents (knowledge_base_id, id)",
        """CREATE INDEX documents_sha
            ON documents (knowledge_base_id, sha, created_at, id) WHERE sha IS NOT NULL""",
        f"CREATE TABLE knowledge_base_counts (id {text} PRIMARY KEY, {_COUNTERS})",
        f"""CREATE TABLE users (
            user_id {text} PRIMARY KEY, {_COUNTERS},
            unfinished BIGINT NOT NULL DEFAULT 0, running BIGINT NOT NULL DEFAULT 0,
            last_served BIGINT NOT NULL DEFAULT 0, sequence BIGINT NOT NULL DEFAULT 0,
            knowledge_bases BIGINT NOT NULL DEFAULT 0)""",
        "CREATE INDEX users_turn ON users (running, last_served, user_id) WHERE unfinished > 0",
        "CREATE INDEX users_served ON users (last_served)",
        f"""CREATE TABLE events (
            user_id {text} NOT NULL, sequence BIGINT NOT NULL, at BIGINT NOT NULL,
            knowledge_base_id {text} NOT NULL, body TEXT NOT NULL,
            PRIMARY KEY (user_id, sequence))""",
        "CREATE INDEX events_at ON events (at)",
        f"""CREATE TABLE credentials (
            id {text} PRIMARY KEY, user_id {text} NOT NULL, created_at BIGINT NOT NULL,
            body TEXT NOT NULL)""",
        "CREATE INDEX credentials_user ON credentials (user_id, created_at, id)",
        f"""CREATE TABLE registry (
            name {text} PRIMARY KEY, value TEXT NOT NULL, expires_at BIGINT)""",
    )
