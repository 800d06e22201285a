"""A knowledge base gets another embedding model while it is searched and changed.

API, two workers, PostgreSQL with pgvector and an embeddings endpoint, each a process of its own.
Searchers ask for words that stand in one document each; the next model has other dimensions, so a
query embedded by one model and sent to vectors of the other fails at once. Halfway all workers are
killed with SIGKILL and started again later; meanwhile documents are uploaded, deleted and
re-indexed. Prints one JSON line.

`python -m benchmarks.bench_migration [--documents 2000] [--write]`
"""

import asyncio
import random
import signal
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from agentscope.testing import servers
from benchmarks.chaos.__main__ import last_audit, show_logs
from benchmarks.chaos.stack import Stack
from benchmarks.figures import arguments, quantile, report

USER = {"X-User-ID": "default"}
SEARCHERS = 3
PAGES = 3  # of text in a document, about one chunk each
PAGE_WORDS = 55
UPLOADS_AT_A_TIME = 8
LONGEST_SECONDS = 1800.0


def text(number: int) -> str:
    """Return a document; its last word stands in no other."""
    words = [f"w{(number * 7919 + n * 104729) % 5000}" for n in range(PAGES * PAGE_WORDS)]
    return " ".join([*words, f"unique{number}x"])


@dataclass(slots=True)
class Searches:
    """What the searchers saw; sorted by the part of the run in which they asked."""

    part: str = "before"
    took: dict[str, list[float]] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    empty: int = 0
    missed: int = 0  # the document with the word was not among the hits

    def figures(self, part: str, seconds: float) -> dict[str, Any]:
        """Return the latencies of a part."""
        took = self.took.get(part, [])
        return {
            "searches": len(took),
            "per_second": round(len(took) / max(seconds, 0.001), 1),
            "p50_ms": round(quantile(took, 0.5), 1),
            "p95_ms": round(quantile(took, 0.95), 1),
            "max_ms": round(max(took), 1),
        }


@dataclass(slots=True)
class Scene:
    """The service with one knowledge base, and what is known of its documents."""

    stack: Stack
    http: httpx.AsyncClient
    seed: int
    base: str = ""
    credential: str = ""
    documents: dict[int, str] = field(default_factory=dict)  # those nobody touches
    searches: Searches = field(default_factory=Searches)

    def model(self, name: str, dimensions: int) -> dict[str, Any]:
        """Return the choice of a model of the endpoint."""
        return {
            "type": "openai_credential",
            "credential_id": self.credential,
            "model": name,
            "dimensions": dimensions,
        }

    async def call(self, method: str, path: str, **options: Any) -> Any:
        """Return the decoded answer of a call that must succeed."""
        answer = await self.http.request(method, path, **options)
        assert answer.is_success, f"{method} {path}: {answer.status_code} {answer.text[:300]}"
        return answer.json() if answer.content else None

    async def set_up(self) -> None:
        """Make a credential and a knowledge base."""
        address = f"{self.stack.provider_url}/v1"
        data = {"type": "openai_credential", "api_key": "x", "base_url": address}
        made = await self.call("POST", "/credential/", json={"data": data})
        self.credential = made["credential_id"]
        config = self.model("text-embedding-3-small", 64)
        body = {"name": "moving", "embedding_model_config": config}
        made = await self.call("POST", "/knowledge_bases/", json=body)
        self.base = made["knowledge_base_id"]

    async def upload(self, number: int) -> str:
        """Upload a document and return its id."""
        made = await self.call(
            "POST",
            f"/knowledge_bases/{self.base}/documents",
            files={"file": (f"{number}.txt", text(number).encode(), "text/plain")},
        )
        return str(made["document_id"])

    async def fill(self, count: int) -> None:
        """Upload documents and wait until all are ready."""
        gate = asyncio.Semaphore(UPLOADS_AT_A_TIME)

        async def one(number: int) -> None:
            async with gate:
                self.documents[number] = await self.upload(number)

        await asyncio.gather(*(one(number) for number in range(count)))
        await self.until(lambda view: view["status_counts"]["ready"] == count)

    async def until(self, condition: Any) -> dict[str, Any]:
        """Wait until the knowledge base is as wished."""
        deadline = time.monotonic() + LONGEST_SECONDS
        while time.monotonic() < deadline:
            view: dict[str, Any] = await self.call("GET", f"/knowledge_bases/{self.base}")
            if condition(view):
                return view
            await asyncio.sleep(0.1)
        raise TimeoutError(f"never: {view}")

    async def search(self, choice: random.Random) -> None:
        """Ask for one document by its word, by meaning and by words."""
        number, wanted = choice.choice(list(self.documents.items()))
        body = {"query": f"unique{number}x", "top_k": 10, "mode": choice.choice(MODES)}
        part, seen = self.searches.part, self.searches
        begun = time.perf_counter()
        try:
            answer = await self.http.post(f"/knowledge_bases/{self.base}/search", json=body)
        except httpx.HTTPError as exc:
            seen.failed.append(type(exc).__name__)
            return
        seen.took.setdefault(part, []).append(1000 * (time.perf_counter() - begun))
        if answer.status_code != 200:
            seen.failed.append(f"{answer.status_code} {answer.text[:200]}")
            return
        hits = answer.json()["results"]
        seen.empty += not hits
        found = wanted in {hit["document_id"] for hit in hits}
        kept = number in self.documents  # else it was deleted meanwhile
        seen.missed += kept and body["mode"] != "vector" and not found

    async def search_until(self, stop: asyncio.Event, seed: int) -> None:
        """Search without a pause."""
        choice = random.Random(seed)
        while not stop.is_set():
            await self.search(choice)


MODES = ("vector", "hybrid", "keyword")


async def disturb(scene: Scene, count: int) -> dict[str, int]:
    """Upload, delete and re-index while the migration is under way."""
    choice = random.Random(scene.seed)
    touched = choice.sample(sorted(scene.documents), 2 * count)
    gone = {number: scene.documents.pop(number) for number in touched[:count]}
    path = f"/knowledge_bases/{scene.base}/documents"
    for number, again in zip(gone, touched[count:], strict=True):
        await scene.call("DELETE", f"{path}/{gone[number]}")
        await scene.call("POST", f"{path}/{scene.documents[again]}/reindex")
        await scene.upload(100_000 + number)
        await asyncio.sleep(0.05)
    return {"uploaded": count, "deleted": count, "reindexed": count}


async def kill_workers(scene: Scene) -> dict[str, Any]:
    """Wait for a third of the way, kill every worker, and start them again two seconds later."""

    def third(view: dict[str, Any]) -> bool:
        migration = view["migration"]
        if migration is None:
            return True
        progress = migration["progress"]
        return bool(progress["stage"] == "closing" or progress["done"] * 3 >= progress["total"])

    view = await scene.until(third)
    workers = [
        process for name, process in scene.stack.processes.items() if name.startswith("worker")
    ]
    for process in workers:
        process.signal(signal.SIGKILL)
    await asyncio.sleep(2)
    for process in workers:
        process.stop()
        process.start()
    migration = view["migration"]
    return {"killed_at": migration and migration["progress"]}


async def migrate(scene: Scene, calm_seconds: float) -> dict[str, Any]:
    """Search before, during and after; return the figures."""
    stop, seconds = asyncio.Event(), {"before": calm_seconds, "after": calm_seconds}
    searchers = [
        asyncio.create_task(scene.search_until(stop, scene.seed * 10 + number))
        for number in range(SEARCHERS)
    ]
    await asyncio.sleep(calm_seconds)
    count, begun = len(scene.documents), time.perf_counter()
    scene.searches.part = "during"
    body = {"embedding_model_config": scene.model("text-embedding-3-large", 96)}
    await scene.call("POST", f"/knowledge_bases/{scene.base}/migration", json=body)
    killed, changed = await asyncio.gather(kill_workers(scene), disturb(scene, min(20, count // 6)))
    view = await scene.until(lambda view: view["generation"] == 2)
    seconds["during"] = time.perf_counter() - begun
    scene.searches.part = "after"
    await asyncio.sleep(calm_seconds)
    stop.set()
    await asyncio.gather(*searchers)
    view = await scene.until(lambda view: view["status_counts"]["ready"] == count)
    parts = {part: scene.searches.figures(part, seconds[part]) for part in seconds}
    return {
        "migration_seconds": round(seconds["during"], 1),
        "chunks": view["chunk_count"],
        "model_after": view["embedding_model_config"]["model"],
        **killed,
        "meanwhile": changed,
        "searches": parts,
        "failed_searches": len(scene.searches.failed),
        "failures": scene.searches.failed[:5],
        "empty_searches": scene.searches.empty,
        "missed_documents": scene.searches.missed,
    }


async def run(stack: Stack, documents: int, seed: int, calm_seconds: float) -> dict[str, Any]:
    """Play the scene and audit what it left."""
    try:
        await stack.start()
        async with httpx.AsyncClient(
            base_url=stack.base_url, headers=USER, timeout=120, trust_env=False
        ) as http:
            scene = Scene(stack, http, seed)
            await scene.set_up()
            begun = time.perf_counter()
            await scene.fill(documents)
            filled = time.perf_counter() - begun
            figures = await migrate(scene, calm_seconds)
        audit = await last_audit(stack)
    finally:
        await stack.close()
    return {
        "documents": documents,
        "seed": seed,
        "searchers": SEARCHERS,
        "workers": stack.workers,
        "filled_seconds": round(filled, 1),
        **figures,
        "audit": {name: audit[name] for name in ("clean", "unfinished", "findings")},
    }


def measure(
    documents: int, *, seed: int = 1, calm_seconds: float = 10.0, workers: int = 2
) -> dict[str, Any]:
    """Start everything, migrate, and return the figures."""
    with ExitStack() as exits:
        work = Path(exits.enter_context(tempfile.TemporaryDirectory(prefix="migration")))
        stack = Stack("postgres", work, workers=workers)
        address = "postgresql://postgres@127.0.0.1:{port}/postgres"
        stack.servers["CHAOS_POSTGRES"] = exits.enter_context(servers.postgres()), address
        exits.callback(stack.stop)
        try:
            return asyncio.run(run(stack, documents, seed, calm_seconds))
        except BaseException:
            show_logs(work)
            raise


def main() -> int:
    """Print the figures; the exit code says whether a search failed."""
    parser = arguments(str(__doc__))
    parser.add_argument("--documents", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    figures = measure(args.documents, seed=args.seed)
    report("migration", figures, packages=("asyncpg", "fastapi"))
    wrong = figures["failed_searches"] + figures["empty_searches"] + figures["missed_documents"]
    return 1 if wrong or not figures["audit"]["clean"] else 0


if __name__ == "__main__":
    sys.exit(main())
