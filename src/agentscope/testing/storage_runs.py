"""What every storage must do about runs: claims, leases, fencing, fairness."""

from dataclasses import replace
from datetime import timedelta

import pytest

from agentscope.app.records import DocumentRecord, DocumentStatus, Limits, Policy
from agentscope.app.storage.verbs import RunWriter, reindex, tombstone
from agentscope.app.transitions.guards import Progress
from agentscope.errors import ConflictError, DocumentNotFoundError, LeaseLostError
from agentscope.testing.storage_uploads import StorageCase
from agentscope.testing.storage_world import FAILURE, POLICY, TTL

SECOND = timedelta(seconds=1)


async def writes_of(writer: RunWriter) -> list[type[Exception] | None]:
    """Try everything that a run can write; return what each answered."""
    calls = (
        writer.renew(Progress("indexing", 1, 2, "chunk")),
        writer.set_stage(DocumentStatus.INDEXING),
        writer.retry_later(SECOND, FAILURE),
        writer.release(),
        writer.fail(FAILURE),
        writer.publish(3, warnings=(), report={}),
    )
    answers: list[type[Exception] | None] = []
    for call in calls:
        try:
            await call
            answers.append(None)
        except Exception as exc:
            answers.append(type(exc))
    return answers


class RunSuite(StorageCase):
    """One document and its runs."""

    async def test_a_claim_starts_a_run(self) -> None:
        """A claim raises the epoch and holds the document until its lease ends."""
        async with self.open_world() as world:
            base = await world.knowledge_base()
            document = await world.upload(base)
            (claim,) = await world.claim(owner="w1")
            held = claim.document
            assert held.id == document.id
            assert held.status is DocumentStatus.PARSING
            assert held.run_id == claim.run_id
            assert held.epoch > document.epoch
            assert (held.attempt, held.lease_owner) == (1, "w1")
            assert held.lease_expires_at == held.due_at == held.max_lease_at
            assert claim.ttl == TTL
            assert claim.knowledge_base == base
            assert await world.standing(document) == held
            assert await world.claim() == []
            await world.check_totals()

    async def test_a_run_goes_through_its_stages_to_ready(self) -> None:
        """Progress, stages, warnings and the report are kept; the lease is cleared."""
        async with self.open_world() as world:
            base = await world.knowledge_base()
            claim = await world.running(base)
            writer = world.writer(claim)
            await writer.set_stage(DocumentStatus.CHUNKING)
            await writer.set_stage(DocumentStatus.INDEXING, Progress("indexing", 1, 7, "chunk"))
            await world.check_totals()
            world.advance(SECOND)
            before = await world.standing(claim.document)
            renewed = await writer.renew(Progress("indexing", 5, 7, "chunk"))
            assert (renewed.progress_done, renewed.progress_total) == (5, 7)
            assert before.lease_expires_at is not None
            assert renewed.lease_expires_at is not None
            assert renewed.lease_expires_at > before.lease_expires_at
            done = await writer.publish(7, warnings=("a page is empty",), report={"pages": 3})
            assert done.status is DocumentStatus.READY
            assert done.searchable
            assert (done.chunk_count, done.active_run_id) == (7, claim.run_id)
            assert (done.warnings, done.report) == (("a page is empty",), {"pages": 3})
            assert done.lease_owner is None
            assert done.failure is None
            assert await world.storage.documents.get("u", base.id, done.id) == done
            await world.check_totals()
            await world.check_events("u")

    async def test_a_lost_run_can_write_nothing(self) -> None:
        """After another claim, every write of the old run is refused and changes nothing."""
        async with self.open_world() as world:
            base = await world.knowledge_base()
            old = await world.running(base)
            world.advance(TTL + SECOND)
            (new,) = await world.claim(owner="w2")
            assert new.document.id == old.document.id
            assert new.document.epoch > old.document.epoch
            before = await world.standing(old.document)
            assert await writes_of(world.writer(old)) == [LeaseLostError] * 6
            assert await world.standing(old.document) == before
            await world.writer(new).renew()

    @pytest.mark.parametrize("end", ["tombstone", "knowledge_base", "fail", "gone"])
    async def test_a_run_ends_with_its_document(self, end: str) -> None:
        """Deletion of document or knowledge base, failure and removal end the run for good."""
        async with self.open_world() as world:
            base = await world.knowledge_base()
            claim = await world.running(base)
            documents = world.storage.documents
            if end == "tombstone":
                await tombstone(documents, claim.document.id, policy=POLICY)
            elif end == "knowledge_base":
                await world.delete_base(base.id)
            elif end == "fail":
                await world.writer(claim).fail(FAILURE)
            else:
                await tombstone(documents, claim.document.id, policy=POLICY)
                assert await documents.apply(claim.document.id, _remove) is None
            before = await world.raw(claim.document)
            assert await writes_of(world.writer(claim)) == [LeaseLostError] * 6
            assert await world.raw(claim.document) == before

    async def test_a_retry_waits_for_its_time(self) -> None:
        """The failure is shown meanwhile and cleared by the next claim."""
        async with self.open_world() as world:
            base = await world.knowledge_base()
            claim = await world.running(base)
            record = await world.writer(claim).retry_later(timedelta(seconds=30), FAILURE)
            assert record.status is DocumentStatus.PENDING
            assert record.failure == FAILURE
            assert await world.claim() == []
            due = await world.storage.documents.due()
            assert due.index is not None
            assert timedelta(seconds=20) < due.index <= timedelta(seconds=30)
            world.advance(timedelta(seconds=31))
            (again,) = await world.claim()
            assert again.document.failure is None
            assert again.document.attempt == 2
            assert not again.document.alone

    async def test_a_release_costs_no_attempt(self) -> None:
        """A drained document is due at once."""
        async with self.open_world() as world:
            base = await world.knowledge_base()
            for _ in range(3):
                claims = [await world.running(base)] if _ == 0 else await world.claim()
                record = await world.writer(claims[0]).release()
                assert record.attempt == 0
                assert record.status is DocumentStatus.PENDING

    async def test_a_document_out_of_attempts_is_set_aside(self) -> None:
        """The claim ends it in `error` with a higher epoch and returns nothing."""
        async with self.open_world() as world:
            base = await world.knowledge_base()
            limits = Policy(limits=Limits(max_attempts=2))
            document = await world.upload(base)
            for _ in range(2):
                (claim,) = await world.claim(policy=limits)
                await world.writer(claim).retry_later(timedelta(), FAILURE)
            assert await world.claim(policy=limits) == []
            record = await world.standing(document)
            assert record.status is DocumentStatus.ERROR
            assert record.failure is not None
            assert record.failure.code == "attempts_exhausted"
            assert record.epoch > claim.document.epoch
            await world.check_totals()
            await world.check_events("u")

    async def test_unforeseen_failures_are_counted_apart(self) -> None:
        """Runs that failed otherwise are not among them; success and re-index begin anew."""
        async with self.open_world() as world:
            document = await world.upload(await world.knowledge_base())
            for unforeseen, counted in ((False, 0), (True, 1), (False, 1), (True, 2)):
                (claim,) = await world.claim()
                writer = world.writer(claim)
                record = await writer.retry_later(timedelta(), FAILURE, unforeseen=unforeseen)
                assert record.unforeseen == counted
            (claim,) = await world.claim()
            assert claim.document.attempt == 5
            published = await world.writer(claim).publish(1, warnings=(), report={})
            assert published.unforeseen == 0
            assert (await reindex(world.storage.documents, document.id)).unforeseen == 0

    async def test_a_document_that_kills_workers_is_found(self) -> None:
        """First it runs alone, then each death counts, then it is set aside."""
        async with self.open_world() as world:
            base = await world.knowledge_base()
            document = await world.upload(base)
            crashes = []
            for _ in range(10):
                claims = await world.claim()
                if not claims:
                    break
                crashes.append(claims[0].document.crashes)
                world.advance(TTL + SECOND)
            assert crashes == [0, 0, 1, 2]
            record = await world.standing(document)
            assert record.failure is not None
            assert record.failure.code == "worker_crash_loop"
            queued = await reindex(world.storage.documents, document.id)
            assert (queued.crashes, queued.attempt, queued.alone) == (0, 0, False)

    async def test_reindex_keeps_what_was_published(self) -> None:
        """The old run stays visible while the new one works and when it fails."""
        async with self.open_world() as world:
            base = await world.knowledge_base()
            first = await world.ready(base, chunks=4)
            queued = await reindex(world.storage.documents, first.id)
            assert queued.status is DocumentStatus.PENDING
            assert queued.searchable
            assert await reindex(world.storage.documents, first.id) == queued
            (claim,) = await world.claim()
            failed = await world.writer(claim).fail(FAILURE)
            assert failed.status is DocumentStatus.ERROR
            assert failed.active_run_id == first.active_run_id
            assert failed.chunk_count == 4
            await world.check_totals()
            with pytest.raises(DocumentNotFoundError):
                await reindex(world.storage.documents, "missing")

    async def test_expired_leases_come_back_at_once(self) -> None:
        """The embedded service ends the leases of its predecessor."""
        async with self.open_world() as world:
            base = await world.knowledge_base()
            for _ in range(3):
                await world.running(base)
            assert await world.storage.documents.expire_leases() == 3
            (claim,) = await world.claim(limit=3)
            assert claim.document.alone
            assert await world.storage.documents.expire_leases() == 3

    async def test_an_illegal_move_is_refused(self) -> None:
        """A change cannot jump, lower the epoch or strand a document."""
        async with self.open_world() as world:
            base = await world.knowledge_base()
            document = await world.ready(base)
            wrong = (
                {"status": DocumentStatus.INDEXING},
                {"epoch": document.epoch - 1},
                {"status": DocumentStatus.PENDING, "due_at": None},
            )
            for fields in wrong:
                with pytest.raises(ConflictError):
                    await world.storage.documents.apply(
                        document.id,
                        lambda record, _base, _now, fields=fields: replace(record, **fields),  # type: ignore[misc]
                    )
            assert await world.standing(document) == document
            with pytest.raises(DocumentNotFoundError):
                await world.storage.documents.apply("missing", lambda record, _base, _now: record)

    async def test_an_unchanged_record_is_not_written(self) -> None:
        """A change that returns the same object leaves version and times alone."""
        async with self.open_world() as world:
            base = await world.knowledge_base()
            document = await world.ready(base)
            world.advance(SECOND)
            same = await world.storage.documents.apply(
                document.id, lambda record, _base, _now: record
            )
            assert same == document
            assert await world.standing(document) == document


def _remove(record: DocumentRecord, base: object, now: object) -> None:
    del record, base, now
