"""Where SQLite and PostgreSQL differ; everything else is one SQL text for both."""

import functools
import re
from dataclasses import dataclass

_PARAMETER = re.compile(r":([a-z_]+)")


@dataclass(frozen=True, slots=True)
class Dialect:
    """Words that one database has and the other writes differently or does not need."""

    name: str
    text: str  # type of a text column that sorts by code point
    position: str  # function: where a text stands in another, from 1; 0 if it does not
    for_update: str = ""
    for_share: str = ""
    skip_locked: str = ""  # of one table
    claim_lock: str = ""  # of document `d` and knowledge base `k`
    next_turn: str = ""  # expression: a number greater than all before
    claims_per_transaction: int = 1
    named: bool = False  # parameters are %(name)s instead of :name

    def render(self, statement: str) -> str:
        """Return the statement with this database's parameter marks."""
        return _rendered(statement) if self.named else statement


@functools.lru_cache(maxsize=512)
def _rendered(statement: str) -> str:
    return _PARAMETER.sub(r"%(\1)s", statement)


SQLITE = Dialect(
    name="sqlite",
    text="TEXT",
    position="instr",
    next_turn="(SELECT coalesce(max(last_served), 0) + 1 FROM users)",
    # One writer at a time anyway: a batch of claims costs one commit.
    claims_per_transaction=32,
)

POSTGRES = Dialect(
    name="postgres",
    text='TEXT COLLATE "C"',
    position="strpos",
    for_update=" FOR UPDATE",
    for_share=" FOR SHARE",
    skip_locked=" FOR UPDATE SKIP LOCKED",
    claim_lock=" FOR UPDATE OF d SKIP LOCKED FOR SHARE OF k SKIP LOCKED",
    next_turn="nextval('turns')",
    # One document per transaction: two claimers that each hold one user's row and want the
    # other's would lock each other out.
    claims_per_transaction=1,
    named=True,
)
