"""Who works on what: fair claims of index work, maintenance claims and due times, in SQL."""

from dataclasses import dataclass, field
from typing import Any

from agentscope.app.records import (
    PAUSED_KNOWLEDGE_BASE,
    PAUSED_USER,
    Claim,
    ClaimRequest,
    DocumentRecord,
    DocumentStatus,
    DueTimes,
    MaintenanceClaim,
    Policy,
    Waiting,
)
from agentscope.app.storage.changes import epoch_floor, must_run_alone
from agentscope.app.storage.codec import (
    from_micros,
    load_document,
    load_knowledge_base,
    to_micros,
)
from agentscope.app.storage.sql.session import Session, moment
from agentscope.app.storage.sql.transaction import Transaction
from agentscope.app.transitions import deletion, run
from agentscope.app.transitions import knowledge_base as moves
from agentscope.identity import new_id

USERS_PER_LOOK = 50
LEASES_PER_TRANSACTION = 500

_NOT_PAUSED = "NOT EXISTS (SELECT 1 FROM registry p WHERE p.name = '{prefix}' || {owner})"
_DUE = f"""
    FROM documents d JOIN knowledge_bases k ON k.id = d.knowledge_base_id
    WHERE d.user_id = {{user}} AND d.queue = 1 AND d.due_at <= :now AND k.status = 'active'
    AND {_NOT_PAUSED.format(prefix=PAUSED_KNOWLEDGE_BASE, owner="d.knowledge_base_id")}
"""
_USER_NOT_PAUSED = _NOT_PAUSED.format(prefix=PAUSED_USER, owner="u.user_id")


@dataclass(slots=True)
class ClaimRound:
    """What one call of `claim_index` has found so far."""

    request: ClaimRequest
    claims: list[Claim] = field(default_factory=list)
    alone_waiting: bool = False
    exhausted: bool = False  # nothing is left that this worker may take

    @property
    def done(self) -> bool:
        """Whether the worker has all it may get."""
        full = len(self.claims) >= self.request.limit
        return full or self.exhausted or any(claim.document.alone for claim in self.claims)

    def filters(self) -> tuple[str, dict[str, Any]]:
        """Return the conditions of the request as SQL and its parameters."""
        parts: list[str] = []
        values: dict[str, Any] = {}
        if self.alone_waiting:
            parts.append("d.alone = 0")
        if self.request.max_bytes is not None:
            parts.append("d.size <= :max_bytes")
            values["max_bytes"] = self.request.max_bytes
        skipped = sorted(self.request.skip_knowledge_bases)
        if skipped:
            names = [f"skip_{_letters(number)}" for number in range(len(skipped))]
            marks = ", ".join(f":{name}" for name in names)
            parts.append(f"d.knowledge_base_id NOT IN ({marks})")
            values.update(zip(names, skipped, strict=True))
        return "".join(f" AND {part}" for part in parts), values


def _letters(number: int) -> str:
    """Return a name of letters for the number, as parameters are named by letters only."""
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))


def claim_some(transaction: Transaction, state: ClaimRound) -> None:
    """Claim as many documents as one transaction may, in fair order."""
    for _ in range(transaction.session.dialect.claims_per_transaction):
        if state.done:
            return
        _claim_one(transaction, state)


def _claim_one(transaction: Transaction, state: ClaimRound) -> None:
    row = _first_in_turn(transaction, state)
    if row is None:
        state.exhausted = True
        return
    old, knowledge_base = load_document(row[0]), load_knowledge_base(row[1])
    request = state.request
    if must_run_alone(old) and not (request.idle and not state.claims):
        state.alone_waiting = True
        return
    run_id = new_id()
    new = run.claim(
        old,
        knowledge_base,
        transaction.now,
        owner=request.owner,
        run_id=run_id,
        policy=request.policy,
        epoch_floor=epoch_floor(transaction.now),
    )
    started = new.status is DocumentStatus.PARSING
    write = transaction.write_document(old, new, served=started)
    transaction.finish()  # the next turn depends on these counters
    assert write is not None
    if started and write.new is not None:
        ttl = request.policy.timings.lease_ttl
        state.claims.append(Claim(write.new, knowledge_base, run_id, ttl))


def _first_in_turn(transaction: Transaction, state: ClaimRound) -> tuple[str, str] | None:
    """Return document and knowledge base of the first due document of the first user in turn.

    A user whose due documents are all being claimed by others is passed over.
    """
    session, now = transaction.session, to_micros(transaction.now)
    filters, values = state.filters()
    offset = 0
    while True:
        users = session.rows(
            f"SELECT u.user_id FROM users u WHERE u.unfinished > 0 AND {_USER_NOT_PAUSED} "
            "AND EXISTS "
            f"(SELECT 1 {_DUE.format(user='u.user_id')} {filters}) "
            "ORDER BY u.running, u.last_served, u.user_id LIMIT :look OFFSET :offset",
            now=now,
            look=USERS_PER_LOOK if session.dialect.claim_lock else 1,
            offset=offset,
            **values,
        )
        for (user_id,) in users:
            row = session.row(
                f"SELECT d.body, k.body {_DUE.format(user=':user_id')} {filters} "
                "ORDER BY d.due_at, d.created_at, d.id LIMIT 1" + session.dialect.claim_lock,
                user_id=user_id,
                now=now,
                **values,
            )
            if row is not None:
                return row[0], row[1]
        if len(users) < USERS_PER_LOOK:
            return None
        offset += USERS_PER_LOOK


def claim_documents(
    transaction: Transaction, limit: int, *, policy: Policy
) -> list[MaintenanceClaim]:
    """Take due documents that no worker waits for."""
    session = transaction.session
    rows = session.rows(
        "SELECT body FROM documents WHERE queue = 0 AND due_at <= :now "
        "ORDER BY due_at, id LIMIT :limit" + session.dialect.skip_locked,
        now=to_micros(transaction.now),
        limit=limit,
    )
    claims = []
    for (body,) in rows:
        old = load_document(body)
        new = deletion.claim_maintenance(old, None, transaction.now, policy=policy)
        write = transaction.write_document(old, new)
        assert write is not None
        claims.append(MaintenanceClaim(claimed_at=transaction.now, document=write.new))
    return claims


def claim_knowledge_bases(
    transaction: Transaction, limit: int, *, policy: Policy
) -> list[MaintenanceClaim]:
    """Take due knowledge bases."""
    session = transaction.session
    rows = session.rows(
        "SELECT body FROM knowledge_bases WHERE due_at <= :now "
        "ORDER BY due_at, id LIMIT :limit" + session.dialect.skip_locked,
        now=to_micros(transaction.now),
        limit=limit,
    )
    claims = []
    for (body,) in rows:
        old = load_knowledge_base(body)
        new = moves.claim_knowledge_base_maintenance(old, transaction.now, policy=policy)
        write = transaction.write_knowledge_base(old, new)
        assert write is not None
        claims.append(MaintenanceClaim(claimed_at=transaction.now, knowledge_base=write.new))
    return claims


def due_times(session: Session) -> DueTimes:
    """Return how long until each kind of work is due; three index look-ups."""
    row = session.row(
        "SELECT (SELECT min(due_at) FROM documents WHERE queue = 1 AND due_at IS NOT NULL), "
        "(SELECT min(due_at) FROM documents WHERE queue = 0 AND due_at IS NOT NULL), "
        "(SELECT min(due_at) FROM knowledge_bases WHERE due_at IS NOT NULL)"
    )
    assert row is not None
    now = session.now()
    index = moment(row[0])
    others = [due for due in (moment(row[1]), moment(row[2])) if due is not None]
    return DueTimes(
        index=None if index is None else index - now,
        maintenance=min(others) - now if others else None,
    )


def unfinished(session: Session) -> int:
    """Return the number of documents that workers have to do with; one index is read."""
    row = session.row("SELECT count(*) FROM documents WHERE queue = 1 AND due_at IS NOT NULL")
    return int(row[0]) if row is not None else 0


def waiting(session: Session, limit: int) -> list[Waiting]:
    """Return the users that workers have to do with; one index is read."""
    rows = session.rows(
        "SELECT w.user_id, w.documents, u.running, w.due FROM ("
        "SELECT user_id, count(*) AS documents, min(due_at) AS due FROM documents "
        "WHERE queue = 1 "  # all of them are due some time; one index holds all that is asked
        "GROUP BY user_id ORDER BY documents DESC, user_id LIMIT :limit"
        ") w JOIN users u ON u.user_id = w.user_id ORDER BY w.documents DESC, w.user_id",
        limit=limit,
    )
    now = session.now()
    return [
        Waiting(user_id, int(count), int(running), from_micros(int(due)) - now)
        for user_id, count, running, due in rows
    ]


def failed(session: Session, after: str, limit: int) -> list[DocumentRecord]:
    """Return documents in `error`, by id."""
    rows = session.rows(
        "SELECT body FROM documents WHERE status = 'error' AND id > :after "
        "ORDER BY id LIMIT :limit",
        after=after,
        limit=limit,
    )
    return [load_document(body) for (body,) in rows]


def expire_some(transaction: Transaction, after: str) -> tuple[int, str | None]:
    """End leases of documents with id > `after`; return how many and where to go on."""
    session = transaction.session
    rows = session.rows(
        "SELECT id, body FROM documents WHERE queue = 1 AND id > :after "
        "AND status IN ('parsing', 'chunking', 'indexing') "
        "ORDER BY id LIMIT :limit" + session.dialect.for_update,
        after=after,
        limit=LEASES_PER_TRANSACTION,
    )
    for _, body in rows:
        old = load_document(body)
        new = run.expire_lease(old, None, transaction.now)
        if new is not old:
            transaction.write_document(old, new)
    full = len(rows) == LEASES_PER_TRANSACTION
    return len(rows), rows[-1][0] if full else None
