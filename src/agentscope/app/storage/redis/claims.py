"""Who works on what, in Redis: fair claims of index work, maintenance claims and due times."""

from dataclasses import dataclass

from agentscope.app.records import (
    Claim,
    ClaimBatch,
    ClaimRequest,
    DocumentRecord,
    DocumentStatus,
    DueTimes,
    KnowledgeBaseRecord,
    MaintenanceClaim,
    Policy,
    Waiting,
)
from agentscope.app.storage.changes import document_write, epoch_floor, knowledge_base_write
from agentscope.app.storage.codec import (
    from_micros,
    load_document,
    load_knowledge_base,
)
from agentscope.app.storage.redis import lists, scripts
from agentscope.app.storage.redis.commit import Commit
from agentscope.app.storage.redis.server import ConflictOnCommit, RedisServer
from agentscope.app.transitions import deletion, run
from agentscope.app.transitions import knowledge_base as moves
from agentscope.errors import KnowledgeBaseNotFoundError
from agentscope.identity import new_id

HOLD_MS = 250  # how long a candidate is kept for the worker that saw it first


@dataclass(frozen=True, slots=True)
class _Candidate:
    micros: int
    version: str
    document: DocumentRecord
    base_version: str
    knowledge_base: KnowledgeBaseRecord


async def claim_index(server: RedisServer, request: ClaimRequest) -> ClaimBatch:
    """Claim documents one after the other, each the first in turn at that moment."""
    claims: list[Claim] = []
    alone_waiting = False
    while len(claims) < request.limit and not any(claim.document.alone for claim in claims):
        may_run_alone = request.idle and not claims
        alone_waiting, found = await _first_in_turn(server, request, may_run_alone, alone_waiting)
        if found is None:
            break
        try:
            claim = await _start(server, request, found)
        except (ConflictOnCommit, KnowledgeBaseNotFoundError):
            continue  # somebody else was faster; whatever is first in turn now comes next
        if claim is not None:
            claims.append(claim)
    return ClaimBatch(tuple(claims), alone_waiting)


async def _first_in_turn(
    server: RedisServer, request: ClaimRequest, may_run_alone: bool, alone_waiting: bool
) -> tuple[bool, _Candidate | None]:
    keys = server.keys
    answer = await server.run(
        scripts.CANDIDATE,
        [keys.users_in_turn],
        keys.root,
        server.shift_micros,
        "" if request.max_bytes is None else request.max_bytes,
        int(may_run_alone),
        int(alone_waiting),
        HOLD_MS,
        len(request.skip_knowledge_bases),
        *sorted(request.skip_knowledge_bases),
    )
    micros, _ = server.time(answer[0], answer[1])
    waiting = bool(answer[2])
    if len(answer) == 3:
        return waiting, None
    return waiting, _Candidate(
        micros=micros,
        version=answer[4],
        document=load_document(answer[5]),
        base_version=answer[6],
        knowledge_base=load_knowledge_base(answer[7]),
    )


async def _start(server: RedisServer, request: ClaimRequest, found: _Candidate) -> Claim | None:
    """Start a run of the candidate; None: it was set aside instead."""
    keys, old = server.keys, found.document
    _, now = server.time(0, found.micros)
    run_id = new_id()
    new = run.claim(
        old,
        found.knowledge_base,
        now,
        owner=request.owner,
        run_id=run_id,
        policy=request.policy,
        epoch_floor=epoch_floor(now),  # a failover may forget a claim
    )
    started = new.status is DocumentStatus.PARSING
    write = document_write(old, new, now)
    commit = Commit(keys, keys.document(old.id), found.micros)
    commit.check_version(keys.document(old.id), found.version)
    commit.check_version(keys.knowledge_base(old.knowledge_base_id), found.base_version)
    commit.document(write, served=started)
    commit.command("DEL", f"{keys.root}hold:{old.id}")
    await server.commit(commit)
    if not started or write.new is None:
        return None
    return Claim(write.new, found.knowledge_base, run_id, request.policy.timings.lease_ttl)


async def claim_documents(
    server: RedisServer, limit: int, *, policy: Policy
) -> list[MaintenanceClaim]:
    """Take due documents that no worker waits for."""
    keys = server.keys
    answer = await server.run(
        scripts.DUE_RECORDS,
        [keys.due_maintenance],
        *(f"{keys.root}doc:", server.shift_micros, limit, HOLD_MS),
    )
    micros, now = server.time(answer[0], answer[1])
    claims = []
    for version, body in zip(answer[2::2], answer[3::2], strict=True):
        old = load_document(body)
        write = document_write(old, deletion.claim_maintenance(old, None, now, policy=policy), now)
        commit = Commit(keys, keys.document(old.id), micros)
        commit.check_version(keys.document(old.id), version)
        commit.document(write)
        commit.command("DEL", f"{keys.document(old.id)}:hold")
        try:
            await server.commit(commit)
        except ConflictOnCommit:
            continue  # another sweeper or a user was faster
        claims.append(MaintenanceClaim(claimed_at=now, document=write.new))
    return claims


async def claim_knowledge_bases(
    server: RedisServer, limit: int, *, policy: Policy
) -> list[MaintenanceClaim]:
    """Take due knowledge bases."""
    keys = server.keys
    answer = await server.run(
        scripts.DUE_RECORDS,
        [keys.due_knowledge_bases],
        *(f"{keys.root}kb:", server.shift_micros, limit, HOLD_MS),
    )
    micros, now = server.time(answer[0], answer[1])
    claims = []
    for version, body in zip(answer[2::2], answer[3::2], strict=True):
        old = load_knowledge_base(body)
        new = moves.claim_knowledge_base_maintenance(old, now, policy=policy)
        write = knowledge_base_write(old, new, now)
        commit = Commit(keys, keys.knowledge_base(old.id), micros)
        commit.check_version(keys.knowledge_base(old.id), version)
        commit.knowledge_base(write)
        commit.command("DEL", f"{keys.knowledge_base(old.id)}:hold")
        try:
            await server.commit(commit)
        except ConflictOnCommit:
            continue
        claims.append(MaintenanceClaim(claimed_at=now, knowledge_base=write.new))
    return claims


async def waiting(server: RedisServer, limit: int) -> list[Waiting]:
    """Return the users that workers have to do with; a slice of them at a time."""
    found: dict[str, Waiting] = {}
    start = 0
    while True:
        answer = await server.run(
            scripts.WAITING,
            [server.keys.users_in_turn],
            *(server.keys.root, start, start + lists.SLICE - 1),
        )
        _, now = server.time(answer[0], answer[1])
        for number in range(3, len(answer), 4):
            user_id, documents, running, due = answer[number : number + 4]
            until = from_micros(int(float(due))) - now
            found[user_id] = Waiting(user_id, int(documents), int(running), until)
        if int(answer[2]) < lists.SLICE:
            break
        start += lists.SLICE
    return sorted(found.values(), key=lambda one: (-one.documents, one.user_id))[:limit]


async def due_times(server: RedisServer) -> DueTimes:
    """Return how long until each kind of work is due; three look-ups."""
    keys = server.keys
    answer = await server.run(
        scripts.EARLIEST, [keys.due_index, keys.due_maintenance, keys.due_knowledge_bases]
    )
    _, now = server.time(answer[0], answer[1])
    index, *others = [
        None if score == "" else from_micros(int(float(score))) - now for score in answer[2:]
    ]
    waiting = [other for other in others if other is not None]
    return DueTimes(index=index, maintenance=min(waiting) if waiting else None)
