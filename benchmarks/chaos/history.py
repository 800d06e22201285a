"""Clients that upload, search, re-index and delete, and remember what they were promised."""

import asyncio
import random
import uuid
from dataclasses import dataclass, field
from typing import Any

import httpx

USERS = ("alice", "oidc:bob", "团队/c")
FINAL_SECONDS = 240


@dataclass(slots=True)
class Upload:
    """One accepted upload: its word stands in no other document."""

    user: str
    knowledge_base: str
    document: str
    word: str
    hostile: bool
    deleted: bool = False


@dataclass(slots=True)
class History:
    """All promises, and what was seen against them."""

    base_url: str
    provider_url: str
    uploads: list[Upload] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    knowledge_bases: dict[str, list[str]] = field(default_factory=dict)
    credentials: dict[str, str] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    deleted_bases: int = 0
    calls: int = 0
    refused: int = 0

    def client(self, user: str) -> httpx.AsyncClient:
        """Return a client of one user; call `aclose` on it."""
        return httpx.AsyncClient(
            base_url=self.base_url,
            headers={b"X-User-ID": user.encode()},
            timeout=30,
            trust_env=False,
        )

    async def set_up(self) -> None:
        """Give every user a credential and two knowledge bases."""
        for user in USERS:
            async with self.client(user) as http:
                data = {
                    "type": "openai_credential",
                    "api_key": "x",
                    "base_url": f"{self.provider_url}/v1",
                }
                answer = await http.post("/credential/", json={"data": data})
                assert answer.status_code == 201, answer.text
                self.credentials[user] = answer.raise_for_status().json()["credential_id"]
                self.knowledge_bases[user] = [
                    await self.new_knowledge_base(http, user) for _ in range(2)
                ]

    async def new_knowledge_base(self, http: httpx.AsyncClient, user: str) -> str:
        """Create a knowledge base and return its id."""
        config = {
            "type": "openai_credential",
            "credential_id": self.credentials[user],
            "model": "text-embedding-3-small",
            "dimensions": 64,
        }
        body = {"name": "chaos", "embedding_model_config": config}
        answer = await http.post("/knowledge_bases/", json=body)
        return str(answer.raise_for_status().json()["knowledge_base_id"])

    async def work(self, seed: int, stop: asyncio.Event) -> None:
        """Do random things until told to stop; a refused or broken call is not a promise."""
        choice = random.Random(seed)
        user = USERS[seed % len(USERS)]
        async with self.client(user) as http:
            while not stop.is_set():
                self.calls += 1
                try:
                    await self.step(http, user, choice)
                except httpx.HTTPError:
                    self.refused += 1
                    await asyncio.sleep(0.3)

    async def step(self, http: httpx.AsyncClient, user: str, choice: random.Random) -> None:
        """Do one random thing."""
        own = [u for u in self.uploads if u.user == user and not u.deleted]
        act = choice.random()
        if act < 0.003 or not self.knowledge_bases[user]:
            await self.replace_base(http, user, choice)
        elif act < 0.45 or not own:
            await self.upload(http, user, choice)
        elif act < 0.6:
            await self.delete(http, choice.choice(own))
        elif act < 0.75:
            target = choice.choice(own)
            path = f"/knowledge_bases/{target.knowledge_base}/documents/{target.document}/reindex"
            await http.post(path)
        else:
            await self.search(http, choice.choice([u for u in self.uploads if u.user == user]))

    async def upload(self, http: httpx.AsyncClient, user: str, choice: random.Random) -> None:
        """Upload a document with a word of its own; sometimes a hostile one."""
        word = f"w{uuid.UUID(int=choice.getrandbits(128)).hex}"
        hostile = choice.random() < 0.1
        kind = choice.choice(["crash", "hang", "eat", "slow"]) if hostile else "plain"
        body = f"{kind} " + " ".join([word, *(f"filler{n}" for n in range(choice.randrange(400)))])
        name, media = ("x.hostile", "application/x-hostile") if hostile else ("x.txt", "text/plain")
        base = choice.choice(self.knowledge_bases[user])
        answer = await http.post(
            f"/knowledge_bases/{base}/documents", files={"file": (name, body.encode(), media)}
        )
        if answer.status_code == 201:
            document = answer.json()["document_id"]
            bad = hostile and kind != "slow"
            self.uploads.append(Upload(user, base, document, word, bad))
        else:
            self.refused += 1

    async def delete(self, http: httpx.AsyncClient, target: Upload) -> None:
        """Delete; from the answer on, its word may never be seen again."""
        path = f"/knowledge_bases/{target.knowledge_base}/documents/{target.document}"
        target.deleted = True  # asked for: from now on it may, but need not, be found
        answer = await http.delete(path)
        if answer.status_code == 204:
            self.gone.add(target.word)

    async def replace_base(self, http: httpx.AsyncClient, user: str, choice: random.Random) -> None:
        """Delete a knowledge base and make another; its words may never be seen again."""
        while len(self.knowledge_bases[user]) < 2:
            self.knowledge_bases[user].append(await self.new_knowledge_base(http, user))
        base = choice.choice(self.knowledge_bases[user])
        self.knowledge_bases[user].remove(base)
        inside = [u for u in self.uploads if u.knowledge_base == base]
        for upload in inside:
            upload.deleted = True
        answer = await http.delete(f"/knowledge_bases/{base}")
        if answer.status_code == 204:
            self.deleted_bases += 1
            self.gone |= {upload.word for upload in inside}
        self.knowledge_bases[user].append(await self.new_knowledge_base(http, user))

    async def search(self, http: httpx.AsyncClient, target: Upload) -> None:
        """Search for a word; a word that was deleted before the call must not come back."""
        gone_before = set(self.gone)
        path = f"/knowledge_bases/{target.knowledge_base}/search"
        answer = await http.post(path, json={"query": target.word, "top_k": 5})
        if answer.status_code != 200:
            return
        for hit in answer.json()["results"]:
            words = set(hit["chunk"]["content"].get("text", "").split())
            if words & gone_before:
                self.problems.append(f"deleted text came back: {words & gone_before}")

    async def settle(self) -> dict[str, Any]:
        """Wait for every promise to be kept, then compare; return figures."""
        deadline = asyncio.get_running_loop().time() + FINAL_SECONDS
        kept = [u for u in self.uploads if not u.deleted]
        while asyncio.get_running_loop().time() < deadline:
            waiting = [u for u in kept if (await self.status(u)) not in ("ready", "error")]
            if not waiting:
                break
            await asyncio.sleep(1)
        counts = {"ready": 0, "error": 0, "lost": 0}
        for upload in kept:
            counts[await self.judge(upload)] += 1
        return counts

    async def status(self, upload: Upload) -> str:
        """Return the status of a document, or why there is none."""
        path = f"/knowledge_bases/{upload.knowledge_base}/documents/status"
        async with self.client(upload.user) as http:
            items = (await http.get(path, params={"ids": upload.document})).json()["items"]
        return str(items[0]["status"]) if items else "missing"

    async def judge(self, upload: Upload) -> str:
        """Check one promise at the end."""
        status = await self.status(upload)
        if status not in ("ready", "error"):
            self.problems.append(f"{upload.document} is {status}")
            return "lost"
        if status == "error" and not upload.hostile:
            self.problems.append(f"{upload.document} ended in error for no reason")
        if status == "ready":
            async with self.client(upload.user) as http:
                path = f"/knowledge_bases/{upload.knowledge_base}/search"
                answer = await http.post(path, json={"query": upload.word, "top_k": 5})
            hits = [h for h in answer.json()["results"] if h["document_id"] == upload.document]
            if not hits:
                self.problems.append(f"{upload.document} is ready but not found")
            if len({h["chunk"]["chunk_index"] for h in hits}) != len(hits):
                self.problems.append(f"{upload.document} has a chunk twice")
        return status
