"""What every storage must do so that all secrets can be sealed again while the service runs."""

import asyncio
from typing import Any

from agentscope.app.rag.service.rotation import Rotation, rotate_secrets
from agentscope.app.rag.service.webhooks import Webhooks, WebhookWish
from agentscope.credential.factory import CredentialFactory
from agentscope.credential.sealing import SecretBox, opened_payload, sealed_payload
from agentscope.testing.storage_uploads import StorageCase
from agentscope.testing.storage_world import HOSTILE_IDS, World

OLD, NEW = "the-old-key-of-the-tests", "the-new-key-of-the-tests"
BEFORE, BOTH, AFTER = SecretBox([OLD]), SecretBox([NEW, OLD]), SecretBox([NEW])


def sealed(box: SecretBox, user_id: str, name: str, secret: str) -> dict[str, Any]:
    """Return the payload of a credential as it is stored."""
    data = {"type": "openai_credential", "id": name, "api_key": secret, "name": name}
    return sealed_payload(box, CredentialFactory.from_dict(data), owner=user_id)


async def opened(world: World, user_id: str, name: str, box: SecretBox) -> str:
    """Return the secret of a stored credential."""
    record = await world.storage.credentials.get(user_id, name)
    assert record is not None
    return str(opened_payload(box, record.data, owner=user_id)["api_key"])


class SecretSuite(StorageCase):
    """The rotation of the secret key."""

    async def test_every_secret_is_sealed_again_and_nothing_else_changes(self) -> None:
        """Of every user; the old key is not needed any more, and times stay as they were."""
        async with self.open_world() as world:
            credentials = world.storage.credentials
            users = [user_id for user_id in HOSTILE_IDS if user_id.strip()]
            for number, user_id in enumerate(users):
                data = sealed(BEFORE, user_id, f"c{number}", f"secret{number}")
                await credentials.put(user_id, f"c{number}", data)
            hooks = Webhooks(world.storage, BEFORE, allow_url=lambda url: None)
            hook, hook_secret = await hooks.create("u", WebhookWish("http://127.0.0.1:9/"))
            before = {user_id: (await credentials.list(user_id))[0] for user_id in users}
            assert {record.id async for record in credentials.of_everybody()} == {
                record.id for record in before.values()
            }
            count = len(users) + 1
            assert await rotate_secrets(world.storage, BOTH) == Rotation(count, count, 0)
            for number, user_id in enumerate(users):
                assert await opened(world, user_id, f"c{number}", AFTER) == f"secret{number}"
                (after,) = await credentials.list(user_id)
                assert (after.created_at, after.updated_at) == (
                    before[user_id].created_at,
                    before[user_id].updated_at,
                )
            renewed = Webhooks(world.storage, AFTER, allow_url=lambda url: None)
            assert renewed.secret(await renewed.get("u", hook.id)) == hook_secret
            assert await rotate_secrets(world.storage, AFTER) == Rotation(count, 0, 0)

    async def test_what_a_user_changes_meanwhile_stands(self) -> None:
        """A rotation that read the old content does not bring it back."""
        async with self.open_world() as world:
            credentials = world.storage.credentials
            old = await credentials.put("u", "c", sealed(BEFORE, "u", "c", "first"))
            await credentials.put("u", "c", sealed(BOTH, "u", "c", "second"))
            assert not await credentials.reseal(old, sealed(BOTH, "u", "c", "first"))
            await credentials.delete("u", "c")
            assert not await credentials.reseal(old, sealed(BOTH, "u", "c", "first"))
            assert await credentials.list("u") == []
            await credentials.put("u", "c", sealed(BEFORE, "u", "c", "third"))

            async def change() -> None:
                for number in range(10):
                    await credentials.put("u", "c", sealed(BOTH, "u", "c", f"change{number}"))

            await asyncio.gather(change(), *(rotate_secrets(world.storage, BOTH) for _ in "abc"))
            assert await opened(world, "u", "c", AFTER) == "change9"

    async def test_it_goes_on_where_it_stopped(self) -> None:
        """Some are sealed with the new key already; one cannot be opened and is told."""
        async with self.open_world() as world:
            credentials = world.storage.credentials
            await credentials.put("u", "done", sealed(BOTH, "u", "done", "a"))
            await credentials.put("u", "open", sealed(BEFORE, "u", "open", "b"))
            lost = SecretBox(["a-key-that-nobody-has-kept"])
            await credentials.put("v", "lost", sealed(lost, "v", "lost", "c"))
            assert await rotate_secrets(world.storage, BOTH) == Rotation(3, 1, 1)
            assert await opened(world, "u", "open", AFTER) == "b"
            assert await opened(world, "v", "lost", lost) == "c"

    async def test_an_entry_is_replaced_only_if_it_stands(self) -> None:
        """Of many that try, one succeeds; one that is gone is not made."""
        async with self.open_world() as world:
            registry = world.storage.registry
            assert not await registry.replace("k", {}, {"n": 1})
            await registry.put("k", {"n": 0})
            await world.warm()
            done = await asyncio.gather(
                *(registry.replace("k", {"n": 0}, {"n": number}) for number in range(1, 13))
            )
            assert sum(done) == 1
            assert await registry.get("k") == {"n": done.index(True) + 1}
