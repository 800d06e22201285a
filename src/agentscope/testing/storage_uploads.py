"""What every storage must do about uploads, duplicates and quotas."""

import abc
import asyncio
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from agentscope.app.records import (
    DocumentQuery,
    DocumentStatus,
    Limits,
    OnDuplicate,
    Page,
    Policy,
)
from agentscope.app.storage.verbs import abandon_upload, extend_upload, tombstone
from agentscope.errors import (
    AlreadyExistsError,
    DocumentNotFoundError,
    DuplicateDocumentError,
    KnowledgeBaseNotFoundError,
    NotReadyError,
    QuotaExceededError,
    StorageError,
)
from agentscope.testing.storage_world import GRACE, HOSTILE_IDS, POLICY, World


class StorageCase(abc.ABC):
    """Base of the suites: knows how to open the storage under test."""

    @abc.abstractmethod
    def open_world(self) -> AbstractAsyncContextManager[World]:
        """Return a fresh, empty storage whose clock the test can move."""


class UploadSuite(StorageCase):
    """From the intent to the accepted document."""

    async def test_an_upload_starts_invisible_and_becomes_pending(self) -> None:
        """Users see a document from its commit on, with all that became known."""
        async with self.open_world() as world:
            base = await world.knowledge_base()
            begun = await world.begin(base, metadata={"year": 2026, "标签": ["a"]})
            documents = world.storage.documents
            assert begun.status is DocumentStatus.UPLOADING
            assert await documents.get("u", base.id, begun.id) is None
            result = await documents.commit_upload(
                begun.id,
                stored={
                    "size": 5,
                    "content_sha256": "s",
                    "content_type": "text/plain",
                    "blob_uri": "local://x",
                },
                on_duplicate=OnDuplicate.KEEP,
                policy=POLICY,
            )
            assert result.stored
            assert result.replaced is None
            shown = await documents.get("u", base.id, begun.id)
            assert shown == result.document
            assert (shown.size, shown.content_sha256, shown.blob_uri) == (5, "s", "local://x")
            assert shown.status is DocumentStatus.PENDING
            assert shown.metadata == {"year": 2026, "标签": ["a"]}
            assert shown.due_at is not None
            await world.check_totals()

    async def test_an_upload_needs_an_active_knowledge_base_of_the_user(self) -> None:
        """Another user's, a missing and an unfinished knowledge base look the same."""
        async with self.open_world() as world:
            base = await world.knowledge_base()
            foreign = replace(base, user_id="other")
            missing = replace(base, id="missing")
            for wrong in (foreign, missing):
                with pytest.raises(KnowledgeBaseNotFoundError):
                    await world.begin(wrong)
            await world.delete_base(base.id)
            with pytest.raises(KnowledgeBaseNotFoundError):
                await world.begin(base)

    async def test_an_id_is_taken_only_once(self) -> None:
        """A second document with the same id is refused, also for another user."""
        async with self.open_world() as world:
            base = await world.knowledge_base()
            other = await world.knowledge_base("v")
            await world.begin(base, id="d")
            for one in (base, other):
                with pytest.raises(AlreadyExistsError):
                    await world.begin(one, id="d")
            await world.check_totals()

    async def test_the_quota_holds_against_parallel_uploads(self) -> None:
        """Of twenty uploads at once exactly as many begin as the quota allows."""
        async with self.open_world() as world:
            base = await world.knowledge_base()
            world.policy = Policy(limits=Limits(pending_per_user=5))
            await world.warm()
            results = await asyncio.gather(
                *(world.begin(base) for _ in range(20)), return_exceptions=True
            )
            refused = [one for one in results if isinstance(one, QuotaExceededError)]
            assert len(refused) == 15
            assert len(await world.everything()) == 5
            other = await world.knowledge_base("v")
            await world.begin(other)
            await abandon_upload(
                world.storage.documents, (await world.everything())[0].id, policy=POLICY
            )

    async def test_a_quota_is_free_again_when_a_document_is_finished(self) -> None:
        """Only unfinished documents count against the quota."""
        async with self.open_world() as world:
            base = await world.knowledge_base()
            world.policy = Policy(limits=Limits(pending_per_user=1))
            await world.ready(base)
            await world.begin(base)
            with pytest.raises(QuotaExceededError):
                await world.begin(base)

    async def test_an_upload_lives_as_long_as_it_is_extended(self) -> None:
        """Without a sign of life for the upload time it is swept into a tombstone."""
        async with self.open_world() as world:
            base = await world.knowledge_base()
            begun = await world.begin(base)
            step = POLICY.timings.upload_ttl - timedelta(seconds=1)
            for _ in range(3):
                world.advance(step)
                await extend_upload(world.storage.documents, begun.id, policy=POLICY)
                assert await world.sweep() == []
            world.advance(POLICY.timings.upload_ttl + timedelta(seconds=1))
            (claim,) = await world.sweep()
            assert claim.document is not None
            assert claim.document.status is DocumentStatus.DELETING
            assert claim.document.purge_after is not None
            assert claim.document.purge_after >= claim.claimed_at + GRACE
            with pytest.raises(NotReadyError):
                await extend_upload(world.storage.documents, begun.id, policy=POLICY)

    async def test_a_late_commit_is_refused(self) -> None:
        """A given-up upload, a missing record and a deleted knowledge base take no commit."""
        async with self.open_world() as world:
            base = await world.knowledge_base()
            documents = world.storage.documents
            begun, second = await world.begin(base), await world.begin(base)
            await abandon_upload(documents, begun.id, policy=POLICY)
            await abandon_upload(documents, begun.id, policy=POLICY)
            await abandon_upload(documents, "missing", policy=POLICY)
            end: dict[str, Any] = {
                "stored": {"size": 1},
                "on_duplicate": OnDuplicate.KEEP,
                "policy": POLICY,
            }
            with pytest.raises(NotReadyError):
                await documents.commit_upload(begun.id, **end)
            with pytest.raises(DocumentNotFoundError):
                await documents.commit_upload("missing", **end)
            await world.delete_base(base.id)
            with pytest.raises(KnowledgeBaseNotFoundError):
                await documents.commit_upload(second.id, **end)

    async def test_hostile_ids_and_users_are_kept_apart(self) -> None:
        """Separators, quotes, braces and any script in ids work and never mix users."""
        async with self.open_world() as world:
            bases = {}
            for name in HOSTILE_IDS:
                base = await world.knowledge_base(name, id=f"kb{name}", name=name)
                bases[name] = base
                await world.upload(base, id=f"d{name}", filename=name)
            await world.check_totals()
            claims = await world.claim(limit=len(HOSTILE_IDS))
            assert {claim.document.user_id for claim in claims} == set(HOSTILE_IDS)
            for claim in claims:
                await world.writer(claim).publish(1, warnings=(), report={})
            for name, base in bases.items():
                listed = await world.storage.knowledge_bases.page(name, Page())
                assert [record.id for record in listed[0]] == [base.id]
                assert await world.storage.documents.get(name, base.id, f"d{name}") is not None
                for other in HOSTILE_IDS:
                    if other != name:
                        assert await world.storage.documents.get(other, base.id, f"d{name}") is None
                await world.check_events(name)
            await world.check_totals()

    async def test_a_closed_storage_says_so(self) -> None:
        """Closing twice is harmless."""
        async with self.open_world() as world:
            await world.storage.now()
            await world.storage.aclose()
            await world.storage.aclose()
            try:
                await world.storage.now()
            except StorageError as exc:
                assert exc.message


class DuplicateSuite(StorageCase):
    """What an upload does when the same bytes are there already."""

    async def test_keep_stores_both_and_names_the_oldest(self) -> None:
        """The duplicate is the oldest visible document of the knowledge base."""
        async with self.open_world() as world:
            base, other = await world.knowledge_base(), await world.knowledge_base()
            first = await world.upload(base, sha="s")
            world.advance(timedelta(seconds=1))
            second = await world.upload(base, sha="s")
            third = await world.upload(base, sha="s")
            elsewhere = await world.upload(other, sha="s")
            assert first.duplicate_of is None
            assert second.duplicate_of == third.duplicate_of == first.id
            assert elsewhere.duplicate_of is None
            await tombstone(world.storage.documents, first.id, policy=POLICY)
            assert (await world.upload(base, sha="s")).duplicate_of == second.id
            assert (await world.upload(base, sha=None)).duplicate_of is None

    async def test_skip_answers_with_the_document_that_is_there(self) -> None:
        """The upload is abandoned in the same step."""
        async with self.open_world() as world:
            base = await world.knowledge_base()
            first = await world.upload(base, sha="s")
            begun = await world.begin(base)
            result = await world.storage.documents.commit_upload(
                begun.id,
                stored={"size": 1, "content_sha256": "s"},
                on_duplicate=OnDuplicate.SKIP,
                policy=POLICY,
            )
            assert not result.stored
            assert result.document.id == first.id
            assert (await world.standing(begun)).status is DocumentStatus.DELETING
            await world.check_totals()

    async def test_reject_fails_and_gives_the_upload_up(self) -> None:
        """The error names the other document; nothing new is visible."""
        async with self.open_world() as world:
            base = await world.knowledge_base()
            first = await world.upload(base, sha="s")
            begun = await world.begin(base)
            with pytest.raises(DuplicateDocumentError) as caught:
                await world.storage.documents.commit_upload(
                    begun.id,
                    stored={"size": 1, "content_sha256": "s"},
                    on_duplicate=OnDuplicate.REJECT,
                    policy=POLICY,
                )
            assert caught.value.context["document_id"] == first.id
            assert (await world.standing(begun)).status is DocumentStatus.DELETING
            await world.check_totals()

    async def test_replace_swaps_in_one_step(self) -> None:
        """The old one is a tombstone when the new one is pending."""
        async with self.open_world() as world:
            base = await world.knowledge_base()
            first = await world.ready(base, sha="s")
            begun = await world.begin(base)
            result = await world.storage.documents.commit_upload(
                begun.id,
                stored={"size": 1, "content_sha256": "s"},
                on_duplicate=OnDuplicate.REPLACE,
                policy=POLICY,
            )
            assert result.stored
            assert result.document.id == begun.id
            assert result.document.duplicate_of is None
            assert result.replaced is not None
            assert result.replaced.id == first.id
            assert result.replaced.status is DocumentStatus.DELETING
            assert await world.storage.documents.get("u", base.id, first.id) is None
            await world.check_totals()
            await world.check_events("u")

    @pytest.mark.parametrize("policy", [OnDuplicate.SKIP, OnDuplicate.REPLACE])
    async def test_ten_uploads_of_the_same_bytes_leave_one_document(
        self, policy: OnDuplicate
    ) -> None:
        """Parallel commits of identical content see each other."""
        async with self.open_world() as world:
            base = await world.knowledge_base()
            begun = [await world.begin(base) for _ in range(10)]
            await world.warm()
            results = await asyncio.gather(
                *(
                    world.storage.documents.commit_upload(
                        record.id,
                        stored={"size": 1, "content_sha256": "s"},
                        on_duplicate=policy,
                        policy=POLICY,
                    )
                    for record in begun
                )
            )
            shown, total = await world.storage.documents.page("u", base.id, DocumentQuery(), Page())
            assert total == len(shown) == 1
            if policy is OnDuplicate.SKIP:
                assert sum(result.stored for result in results) == 1
                assert {result.document.id for result in results} == {shown[0].id}
            else:
                assert all(result.stored for result in results)
            await world.check_totals()
            await world.check_events("u")
