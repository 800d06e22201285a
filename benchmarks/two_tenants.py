"""Two tenants under load against one served process, and nothing of one in any answer to the other.

Each tenant has a key, a marker word in everything it writes, and several clients that upload,
list, search, read, index again, delete and listen to events for minutes, while they also ask with
the other's ids. Each client knows what its own knowledge base holds, so counts are checked with
every list. All answers are recorded and searched in the end for foreign ids, text and names.

`python -m benchmarks.two_tenants [--minutes 5] [--clients 3] [--write]`
"""

import asyncio
import contextlib
import json
import random
import secrets
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from agentscope.app.running import operator_key
from agentscope.credential.sealing import SecretBox
from agentscope.testing.processes import Served, serving
from benchmarks import figures
from benchmarks.tenant_traffic import Traffic, crossed, distinct_ids

SECRET = "two-tenants-0123456789-abcdefghij"
SHARED_WORDS = ("harbour", "lighthouse", "tide", "anchor", "keel", "mast", "rope", "sail")
MOST_DOCUMENTS = 30
SETTLED = ("ready", "error")
SETTLE_SECONDS = 300.0


@dataclass(slots=True)
class Tenant:
    """One tenant with what it was told."""

    name: str
    key: str
    traffic: Traffic
    bases: list[str] = field(default_factory=list)
    documents: list[str] = field(default_factory=list)

    def client(self, base_url: str) -> httpx.AsyncClient:
        """Return a client with the tenant's key."""
        headers = {"Authorization": f"Bearer {self.key}"}
        return httpx.AsyncClient(base_url=base_url, headers=headers, timeout=120, trust_env=False)


class Client:
    """One client of a tenant: it alone changes its knowledge base, so it knows what that holds."""

    def __init__(self, tenant: Tenant, other: Tenant, http: httpx.AsyncClient, seed: int) -> None:
        self.tenant, self.other, self.traffic = tenant, other, tenant.traffic
        self.http = http
        self.rng = random.Random(seed)
        self.base = ""
        self.number = 0
        self.alive: dict[str, bytes] = {}
        self.gone: set[str] = set()

    async def ask(self, kind: str, method: str, path: str, **options: Any) -> httpx.Response:
        """Send one request and keep the answer."""
        answer = await self.http.request(method, path, **options)
        head = b"\n".join(b"%b: %b" % pair for pair in answer.headers.raw)
        asked = f"{path} {json.dumps(options.get('json', options.get('params', '')))}"
        self.traffic.add(kind, answer.status_code, answer.content, head=head, asked=asked)
        return answer

    async def wanted(self, kind: str, method: str, path: str, status: int, **options: Any) -> Any:
        """Return the decoded answer of a call that must succeed."""
        answer = await self.ask(kind, method, path, **options)
        if answer.status_code != status:
            self.traffic.fault(f"{kind} was answered {answer.status_code}: {answer.text[:200]}")
            return None
        return answer.json() if answer.content else None

    async def begin(self) -> None:
        """Make the knowledge base."""
        offer = await self.wanted("models", "GET", "/knowledge_bases/embedding_models", 200)
        provider = offer["providers"][0]
        model = {
            "type": provider["credential"]["data"]["type"],
            "credential_id": provider["credential"]["id"],
            "model": provider["models"][0]["name"],
            "dimensions": provider["models"][0]["dimensions"],
        }
        body = {
            "name": f"{self.traffic.marker} base",
            "description": f"of {self.traffic.marker}",
            "embedding_model_config": model,
        }
        made = await self.wanted("create", "POST", "/knowledge_bases/", 201, json=body)
        self.base = made["knowledge_base_id"]
        self.tenant.bases.append(self.base)

    @property
    def path(self) -> str:
        """The path of the knowledge base's documents."""
        return f"/knowledge_bases/{self.base}/documents"

    async def work(self, until: float) -> None:
        """Do one thing after the other."""
        things = (
            [self.upload] * 5 + [self.list] * 3 + [self.search] * 6 + [self.read] * 3
            + [self.delete] * 2 + [self.probe] * 3 + [self.reindex, self.overview, self.across]
        )  # fmt: skip
        while time.monotonic() < until:
            await self.rng.choice(things)()

    def text(self) -> bytes:
        """Return a new text: words that both tenants use, and the marker in every line."""
        lines = [
            f"{self.traffic.marker} " + " ".join(self.rng.choices(SHARED_WORDS, k=12))
            for _ in range(self.rng.choice([2, 8, 40, 150]))
        ]
        return "\n".join(lines).encode()

    async def upload(self) -> None:
        """Upload a file; one in six is byte for byte what the other tenant uploads, too."""
        if len(self.alive) >= MOST_DOCUMENTS:
            await self.delete()
            return
        self.number += 1
        same = self.rng.random() < 1 / 6
        content = b"The tide tables of the harbour." if same else self.text()
        name = f"{self.traffic.marker}-{self.number}.txt"
        files = {"file": (name, content, "text/plain")}
        data = {"metadata": json.dumps({"by": self.traffic.marker})}
        made = await self.wanted("upload", "POST", self.path, 201, files=files, data=data)
        if made is None:
            return
        self.alive[made["document_id"]] = content
        self.tenant.documents.append(made["document_id"])
        twin = made["duplicate_of"]
        if twin is not None and twin not in self.alive:
            self.traffic.fault(f"an upload is a duplicate of {twin}, which is not in its base")

    async def list(self) -> None:
        """Compare the list with what was uploaded and not deleted."""
        found = await self.wanted("list", "GET", self.path, 200, params={"page_size": 128})
        if found is None:
            return
        listed = {document["id"] for document in found["documents"]}
        if found["total"] != len(self.alive) or listed != self.alive.keys():
            self.traffic.fault(f"a list has {found['total']} documents, not {len(self.alive)}")

    async def search(self) -> None:
        """Search for common words, the own marker and the other's."""
        words = [*SHARED_WORDS, self.traffic.marker, self.other.traffic.marker]
        body = {
            "query": " ".join(self.rng.choices(words, k=3)),
            "mode": self.rng.choice(["hybrid", "keyword", "vector"]),
            "top_k": 20,
            "neighbours": self.rng.choice([0, 1]),
        }
        if self.rng.random() < 0.3:
            body["metadata_filter"] = {"by": self.other.traffic.marker}
        path = f"/knowledge_bases/{self.base}/search"
        found = await self.wanted("search", "POST", path, 200, json=body)
        hits = {hit["document_id"] for hit in found["results"]} if found else set()
        if not hits <= self.alive.keys():
            self.traffic.fault(f"a search found {hits - self.alive.keys()}, not in its base")
        if hits and "metadata_filter" in body:
            self.traffic.fault("a filter for the other's metadata found something")

    async def across(self) -> None:
        """Search all knowledge bases of the tenant at once."""
        body = {"query": self.rng.choice(SHARED_WORDS), "knowledge_base_ids": self.tenant.bases}
        found = await self.wanted("across", "POST", "/knowledge_bases/search", 200, json=body)
        for hit in found["results"] if found else ():
            if hit["document_id"] not in self.tenant.documents:
                self.traffic.fault(f"a search across found {hit['document_id']}")

    async def read(self) -> None:
        """Read a document in all the ways there are."""
        if not self.alive:
            return
        name, content = self.rng.choice(list(self.alive.items()))
        await self.wanted("info", "GET", f"{self.path}/{name}/info", 200)
        await self.wanted("chunks", "GET", f"{self.path}/{name}/chunks", 200)
        made = await self.wanted("token", "POST", f"{self.path}/{name}/download_token", 200)
        if made is not None:
            answer = await self.ask(
                "download", "GET", f"{self.path}/{name}", params={"token": made["token"]}
            )
            if answer.content != content:
                self.traffic.fault(f"the original of {name} is not what was uploaded")

    async def delete(self) -> None:
        """Delete a document; no list and no search may show it from then on."""
        if not self.alive:
            return
        name = self.rng.choice(list(self.alive))
        answer = await self.ask("delete", "DELETE", f"{self.path}/{name}")
        if answer.status_code == 204:
            del self.alive[name]
            self.gone.add(name)
        else:
            self.traffic.fault(f"delete was answered {answer.status_code}")

    async def reindex(self) -> None:
        """Index a document again; while one runs, the service says so."""
        if self.alive:
            name = self.rng.choice(list(self.alive))
            answer = await self.ask("reindex", "POST", f"{self.path}/{name}/reindex")
            if answer.status_code not in (202, 409):
                self.traffic.fault(f"reindex was answered {answer.status_code}")

    async def overview(self) -> None:
        """Look at what concerns the whole tenant."""
        found = await self.wanted("bases", "GET", "/knowledge_bases/", 200)
        listed = {base["id"] for base in found["knowledge_bases"]} if found else set()
        if listed != set(self.tenant.bases):
            self.traffic.fault(f"{len(listed)} knowledge bases, not {len(self.tenant.bases)}")
        for kind in ("limits", "audit_log", "webhooks/", "api_keys/", "credential/"):
            await self.wanted(kind, "GET", f"/{kind}", 200)
        ids = {"ids": ",".join([*list(self.alive)[:20], *self.other.documents[-5:]])}
        states = await self.wanted("states", "GET", f"{self.path}/status", 200, params=ids)
        if states and any(view["id"] not in self.alive for view in states["items"]):
            self.traffic.fault("the states tell of a document that is not in the base")

    async def probe(self) -> None:
        """Ask with ids of the other tenant: they must be as unknown as ids that nobody has."""
        if not (self.other.bases and self.other.documents):
            return
        base, document = self.rng.choice(self.other.bases), self.rng.choice(self.other.documents)
        mixed = f"{self.path}/{document}"
        foreign = f"/knowledge_bases/{base}"
        probes: list[tuple[str, str, dict[str, Any]]] = [
            ("GET", foreign, {}),
            ("DELETE", foreign, {}),
            ("GET", f"{foreign}/documents", {}),
            ("POST", f"{foreign}/search", {"json": {"query": "harbour"}}),
            ("GET", f"{foreign}/documents/{document}", {}),
            ("DELETE", f"{foreign}/documents/{document}", {}),
            ("POST", f"{foreign}/documents/{document}/reindex", {}),
            ("GET", f"{foreign}/documents/{document}/chunks", {}),
            ("GET", f"{foreign}/events", {"params": {"seconds": 0}}),
            ("GET", mixed, {}),
            ("GET", f"{mixed}/info", {}),
            ("DELETE", mixed, {}),
            ("POST", f"{foreign}/documents", {"files": {"file": ("x.txt", b"intruder")}}),
            (
                "POST",
                "/knowledge_bases/search",
                {"json": {"query": "harbour", "knowledge_base_ids": [base]}},
            ),
        ]
        method, path, options = self.rng.choice(probes)
        answer = await self.ask("probe", method, path, **options)
        # To delete what is not there is done at once, whoever has it elsewhere.
        expected = 204 if (method, path) == ("DELETE", mixed) else 404
        if answer.status_code != expected:
            self.traffic.fault(f"{method} {path} was answered {answer.status_code}")


async def listen(tenant: Tenant, base_url: str, until: float) -> None:
    """Listen to the tenant's events, and keep each as an answer; numbers have no gaps."""
    last: int | None = None
    async with tenant.client(base_url) as http:
        while (left := until - time.monotonic()) > 0:
            query = {"seconds": min(left, 20.0), **({} if last is None else {"after": last})}
            async with http.stream("GET", "/events", params=query) as answer:
                async for line in answer.aiter_lines():
                    if line.startswith("data: {") and line != "data: {}":
                        tenant.traffic.add("event", answer.status_code, line.encode())
                        number = json.loads(line.removeprefix("data: "))["sequence"]
                        if last is not None and number != last + 1:
                            tenant.traffic.fault(f"event {number} came after {last}")
                        last = number
                    elif line.startswith("id: ") and last is None:
                        last = int(line.removeprefix("id: "))


async def settle(client: Client) -> None:
    """Wait until all documents are ready, then compare what is there with what should be."""
    deadline = time.monotonic() + SETTLE_SECONDS
    while time.monotonic() < deadline:
        found = await client.wanted("list", "GET", client.path, 200, params={"page_size": 128})
        if found and all(view["status"] in SETTLED for view in found["documents"]):
            break
        await asyncio.sleep(0.5)
    await client.list()
    view = await client.wanted("base", "GET", f"/knowledge_bases/{client.base}", 200)
    ready, size = view["status_counts"]["ready"], sum(map(len, client.alive.values()))
    if (ready, view["size_bytes"]) != (len(client.alive), size):
        client.traffic.fault(f"{ready} ready of {len(client.alive)}, {view['size_bytes']} bytes")


async def check_usage(tenant: Tenant, clients: list[Client]) -> None:
    """Compare the tenant's quotas with what all its clients hold."""
    found = await clients[0].wanted("limits", "GET", "/limits", 200)
    used = {name: view["used"] for name, view in found["quotas"].items()}
    held = [content for client in clients for content in client.alive.values()]
    expected = {
        "knowledge_bases": len(clients),
        "documents": len(held),
        "stored_bytes": sum(map(len, held)),
        "pending": 0,
    }
    if used != expected:
        tenant.traffic.fault(f"usage is {used}, not {expected}")


async def operator(service: Served, method: str, path: str, **options: Any) -> Any:
    """Return the decoded answer to the operator."""
    key = operator_key(SecretBox.from_text(SECRET))
    headers = {"Authorization": f"Bearer {key}"}
    async with httpx.AsyncClient(
        base_url=service.base_url, headers=headers, timeout=120, trust_env=False
    ) as http:
        answer = await http.request(method, path, **options)
        answer.raise_for_status()
        return answer.json()


async def load(service: Served, folder: Path, seconds: float, clients: int) -> dict[str, Any]:
    """Let two tenants work, and return what was found."""
    tenants = []
    for name in ("heron", "otter"):
        body = {"user_id": f"tenant-{name}", "name": name, "capability": "admin"}
        key = (await operator(service, "POST", "/operator/api_keys", json=body))["key"]
        traffic = Traffic(name, f"{name}{secrets.token_hex(4)}", folder / f"{name}.jsonl")
        tenants.append(Tenant(name, key, traffic))
    begun = time.monotonic()
    async with contextlib.AsyncExitStack() as stack:
        workers: dict[str, list[Client]] = {}
        for number, tenant in enumerate(tenants):
            http = await stack.enter_async_context(tenant.client(service.base_url))
            other = tenants[1 - number]
            workers[tenant.name] = [
                Client(tenant, other, http, 10 * number + n) for n in range(clients)
            ]
        everyone = [client for group in workers.values() for client in group]
        await asyncio.gather(*(client.begin() for client in everyone))
        until = time.monotonic() + seconds
        await asyncio.gather(
            *(client.work(until) for client in everyone),
            *(listen(tenant, service.base_url, until) for tenant in tenants),
        )
        await asyncio.gather(*(settle(client) for client in everyone))
        for tenant in tenants:
            await check_usage(tenant, workers[tenant.name])
    report = await operator(service, "POST", "/operator/audit")
    return _figures(tenants, report, time.monotonic() - begun)


def _figures(tenants: list[Tenant], report: dict[str, Any], seconds: float) -> dict[str, Any]:
    one, other = (tenant.traffic for tenant in tenants)
    faults = [*one.faults, *other.faults, *crossed(one, other)]
    if not report["clean"]:
        faults.append(f"the audit found {report['findings'][:3]}")
    return {
        "seconds": round(seconds, 1),
        "answers": {traffic.tenant: sum(traffic.answers.values()) for traffic in (one, other)},
        "by_kind": dict(sorted((one.answers + other.answers).items())),
        "statuses": dict(sorted((one.statuses + other.statuses).items())),
        "ids_told": {traffic.tenant: distinct_ids(traffic) for traffic in (one, other)},
        "recorded_bytes": sum(traffic.path.stat().st_size for traffic in (one, other)),
        "audit_clean": report["clean"],
        "faults": len(faults),
        "first_faults": faults[:20],
    }


def measure(seconds: float, clients: int) -> dict[str, Any]:
    """Run both tenants against a served process of their own."""
    environment = {"AGENTSCOPE_IDENTITY": "api_key", "AGENTSCOPE_SECRET_KEY": SECRET}
    with tempfile.TemporaryDirectory() as folder:
        data_dir = Path(folder) / "data"
        with serving(data_dir, arguments=["--no-ui"], environment=environment) as service:
            return asyncio.run(load(service, Path(folder), seconds, clients))


def main() -> int:
    """Measure and report."""
    parser = figures.arguments(__doc__ or "")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--clients", type=int, default=3, help="clients of each tenant")
    given = parser.parse_args()
    told = measure(given.minutes * 60, given.clients)
    figures.report("two_tenants", {"clients_per_tenant": given.clients, **told})
    return 1 if told["faults"] else 0


if __name__ == "__main__":
    sys.exit(main())
