"""Names of everything in Redis.

The prefix stands in braces, so that a cluster keeps all keys in one slot, which scripts need. A
kind ends at its colon and what follows is one id or user, taken as it is; nothing is ever split.
"""

from datetime import datetime

from agentscope.app.storage.codec import to_micros
from agentscope.errors import ConfigurationError

TIME_DIGITS = 16


class LedgerKeys:
    """Key names of what stands beside documents and knowledge bases."""

    root: str

    def events(self, user_id: str) -> str:
        """Return the key of the user's outbox by sequence."""
        return f"{self.root}events:{user_id}"

    def credential(self, credential_id: str) -> str:
        """Return the key of a credential: a hash."""
        return f"{self.root}cred:{credential_id}"

    def user_credentials(self, user_id: str) -> str:
        """Return the key of the user's credentials by creation time."""
        return f"{self.root}creds:{user_id}"

    def shares(self, knowledge_base_id: str) -> str:
        """Return the key of those a knowledge base is shared with: a hash by viewer."""
        return f"{self.root}shares:{knowledge_base_id}"

    def shared_with(self, viewer_id: str) -> str:
        """Return the key of what is shared with a viewer, by the time it first was."""
        return f"{self.root}sharedwith:{viewer_id}"

    def entry(self, name: str) -> str:
        """Return the key of a registry entry: a hash."""
        return f"{self.root}entry:{name}"


class Keys(LedgerKeys):
    """Key names under one prefix."""

    def __init__(self, prefix: str) -> None:
        if not prefix or "{" in prefix or "}" in prefix:
            raise ConfigurationError("The key prefix must not be empty or hold braces.")
        self.root = f"{{{prefix}}}:"
        self.users_in_turn = f"{self.root}turns"  # users with index work, by whose turn it is
        self.turn = f"{self.root}turn"  # number of the last claim
        self.due_index = f"{self.root}dueindex"  # all documents a worker must look at
        self.due_maintenance = f"{self.root}duemaintenance"
        self.due_knowledge_bases = f"{self.root}dueknowledgebases"
        self.knowledge_bases = f"{self.root}knowledgebases"
        self.users_with_events = f"{self.root}userswithevents"  # by their oldest event
        self.registry = f"{self.root}registry"
        self.layout = f"{self.root}layout"  # version of all this, and the oldest reader of it
        self.failed = f"{self.root}failed"  # documents in error, by id

    def document(self, document_id: str) -> str:
        """Return the key of the record: a hash."""
        return f"{self.root}doc:{document_id}"

    def knowledge_base(self, knowledge_base_id: str) -> str:
        """Return the key of the record: a hash."""
        return f"{self.root}kb:{knowledge_base_id}"

    def counts(self, knowledge_base_id: str) -> str:
        """Return the key of its counters: a hash."""
        return f"{self.root}counts:{knowledge_base_id}"

    def visible(self, knowledge_base_id: str) -> str:
        """Return the key of its visible documents by creation time."""
        return f"{self.root}visible:{knowledge_base_id}"

    def members(self, knowledge_base_id: str) -> str:
        """Return the key of all its documents by id."""
        return f"{self.root}members:{knowledge_base_id}"

    def content(self, knowledge_base_id: str, sha: str) -> str:
        """Return the key of its visible documents with one content, the oldest first."""
        size = len(knowledge_base_id.encode())
        return f"{self.root}content:{size}:{knowledge_base_id}{sha}"

    def user(self, user_id: str) -> str:
        """Return the key of the user's counters: a hash."""
        return f"{self.root}user:{user_id}"

    def user_due(self, user_id: str) -> str:
        """Return the key of the user's documents that a worker must look at."""
        return f"{self.root}due:{user_id}"

    def user_knowledge_bases(self, user_id: str) -> str:
        """Return the key of the user's active knowledge bases by creation time."""
        return f"{self.root}owned:{user_id}"

    def user_creating(self, user_id: str) -> str:
        """Return the key of the user's knowledge bases whose collections are being made."""
        return f"{self.root}creating:{user_id}"


def timed(created_at: datetime, record_id: str) -> str:
    """Return a member that sorts by time of creation, then id; the time has a fixed width."""
    return f"{to_micros(created_at):0{TIME_DIGITS}d}{record_id}"


def untimed(member: str) -> str:
    """Return the id in a member made by `timed`."""
    return member[TIME_DIGITS:]
