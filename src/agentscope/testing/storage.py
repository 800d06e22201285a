"""The contract suite of `StorageBase`: what every storage must do, the same way.

Bind it to a storage in a test module:

    class TestMyStorage(StorageSuite):
        @asynccontextmanager
        async def open_world(self):
            async with MyStorage(...) as storage:
                yield World(storage, advance)    # `advance` moves the clock of the storage

The suite needs a runner for `async def` tests.
"""

from agentscope.testing.storage_claims import ClaimSuite
from agentscope.testing.storage_lists import LedgerSuite, ListSuite
from agentscope.testing.storage_migrations import MigrationSuite
from agentscope.testing.storage_operator import OperatorSuite
from agentscope.testing.storage_quotas import QuotaSuite
from agentscope.testing.storage_runs import RunSuite
from agentscope.testing.storage_secrets import SecretSuite
from agentscope.testing.storage_shares import ShareSuite
from agentscope.testing.storage_sweeps import DeletionSuite, KnowledgeBaseSuite
from agentscope.testing.storage_uploads import DuplicateSuite, UploadSuite
from agentscope.testing.storage_world import World

__all__ = ["StorageSuite", "World"]


class StorageSuite(
    UploadSuite,
    DuplicateSuite,
    QuotaSuite,
    RunSuite,
    ClaimSuite,
    DeletionSuite,
    KnowledgeBaseSuite,
    ListSuite,
    LedgerSuite,
    MigrationSuite,
    OperatorSuite,
    SecretSuite,
    ShareSuite,
):
    """All of it."""
