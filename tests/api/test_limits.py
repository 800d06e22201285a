"""Quotas and rates as a client meets them."""

import asyncio
import itertools
import string
import time
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from agentscope.app.auth.api_keys import ApiKeyIdentity
from agentscope.app.rag.service.limits import ServiceLimits
from agentscope.app.rag.service.plans import TenantLimits
from agentscope.app.running import operator_key
from agentscope.app.storage import InMemoryStorage
from agentscope.app.storage.base import StorageBase
from agentscope.app.storage.sql.sqlite import SQLiteStorage
from agentscope.credential.sealing import SecretBox
from agentscope.rag.parser.text import TextParser
from agentscope.testing.rest import SECRET_KEY, RestService, memory_app

OPERATOR = {"Authorization": f"Bearer {operator_key(SecretBox.from_text(SECRET_KEY))}"}
PARALLEL = 20
FILE_BYTES = 3_000


def limited(folder: Path, **options: Any) -> RestService:
    """Return a service that indexes nothing: what is uploaded is what counts here."""
    limits = ServiceLimits(**options.pop("limits", {}))
    quiet: dict[str, Any] = {"enable_index_worker": False, "knowledge_parsers": [TextParser()]}
    return RestService(memory_app(folder, service_limits=limits, **quiet, **options))


def assert_refused(answer: httpx.Response, quota: str, limit: int, used: int | None = None) -> None:
    assert (answer.status_code, answer.json()["code"]) == (403, "storage_quota_exceeded")
    details = answer.json()["details"]
    assert (details["quota"], details["limit"]) == (quota, limit)
    if used is not None:
        assert details["used"] == used
    assert "Delete" in answer.json()["detail"]
    assert "retry-after" not in answer.headers


async def send_together(service: RestService, kb: str, user: str) -> list[httpx.Response]:
    path = f"/knowledge_bases/{kb}/documents"
    return await asyncio.gather(
        *(
            service._client.post(
                path,
                headers={"X-User-ID": user},
                files={"file": (f"{number}.txt", b"%03d " % number * (FILE_BYTES // 4))},
            )
            for number in range(PARALLEL)
        )
    )


def audit(service: RestService) -> dict[str, Any]:
    report: dict[str, Any] = service.json("POST", "/operator/audit", user=None, headers=OPERATOR)
    return report


def until_gone(service: RestService, folder: Path) -> None:
    """Wait until the first purge pass removed the files below the folder."""
    deadline = time.monotonic() + 30
    while any(path.is_file() for path in folder.rglob("*")):
        assert time.monotonic() < deadline, "files were left"
        service.run(asyncio.sleep(0.01))


@pytest.mark.parametrize(
    ("limits", "allowed", "quota"),
    [
        ({"documents_per_user": 6}, 6, "documents"),
        ({"stored_bytes_per_user": 7 * FILE_BYTES + 100}, 7, "stored_bytes"),
    ],
    ids=["documents", "bytes"],
)
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_of_parallel_uploads_exactly_those_within_the_quota_succeed(
    tmp_path: Path, limits: dict[str, int], allowed: int, quota: str, kind: str
) -> None:
    """The others are told why; counters agree with the audit, files with the records."""
    storage: StorageBase = InMemoryStorage()
    if kind == "sqlite":
        storage = SQLiteStorage(tmp_path / "rag.db")
    with limited(tmp_path, limits=limits, storage=storage) as service:
        kb = service.knowledge_base()
        answers = service.run(send_together(service, kb, "alice"))
        stored = [answer for answer in answers if answer.status_code == 201]
        assert len(stored) == allowed
        for answer in answers:
            if answer.status_code != 201:
                assert_refused(answer, quota, limits[f"{quota}_per_user"])
        report = audit(service)
        assert report["clean"], report["findings"]
        assert report["counts"]["users"] == 1
        assert report["counts"]["documents"] >= allowed
        assert service.json("GET", f"/knowledge_bases/{kb}/documents")["total"] == allowed
        used = service.json("GET", "/limits")["quotas"]
        assert used["documents"]["used"] == allowed
        assert used["stored_bytes"]["used"] == allowed * FILE_BYTES
        assert used["pending"]["used"] == allowed


def test_a_knowledge_base_beyond_the_quota_is_refused_until_one_is_deleted(tmp_path: Path) -> None:
    """And another tenant has a quota of its own."""
    with limited(tmp_path, limits={"knowledge_bases_per_user": 2}) as service:
        first = service.knowledge_base()
        service.knowledge_base()
        config = {"type": "local_credential", "credential_id": "local", "model": "m"}
        body = {"name": "third", "embedding_model_config": {**config, "dimensions": 64}}
        answer = service.call("POST", "/knowledge_bases/", json=body)
        assert_refused(answer, "knowledge_bases", 2, used=2)
        service.knowledge_base(user="bob")
        log = service.json("GET", "/audit_log")["entries"]
        assert [entry["status"] for entry in log] == [201, 201], "a full quota fills no log"
        service.call("DELETE", f"/knowledge_bases/{first}")
        service.knowledge_base()


def test_a_deleted_knowledge_base_gives_its_room_back(tmp_path: Path) -> None:
    """In the background, soon after the answer."""
    with limited(tmp_path, limits={"documents_per_user": 3}) as service:
        kb = service.knowledge_base()
        for number in range(3):
            assert service.upload(kb, f"{number}.txt", b"%d" % number).status_code == 201
        service.call("DELETE", f"/knowledge_bases/{kb}")
        deadline = time.monotonic() + 60
        while service.json("GET", "/limits")["quotas"]["documents"]["used"]:
            assert time.monotonic() < deadline, "the room was not given back"
            service.run(asyncio.sleep(0.01))
        assert service.upload(service.knowledge_base(), "new.txt", b"new").status_code == 201
        assert audit(service)["clean"]


class Body:
    """A form without a length whose file has so many bytes; counts what was taken of it."""

    def __init__(self, size: int, boundary: str = "border") -> None:
        self.size, self.taken, self.boundary = size, 0, boundary
        self.headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}

    async def __aiter__(self) -> AsyncIterator[bytes]:
        head = 'Content-Disposition: form-data; name="file"; filename="big.txt"'
        yield f"--{self.boundary}\r\n{head}\r\n\r\n".encode()
        while self.taken < self.size:
            piece = b"x" * min(65_536, self.size - self.taken)
            self.taken += len(piece)
            yield piece
        yield f"\r\n--{self.boundary}--\r\n".encode()


def test_a_file_of_unknown_length_is_stopped_at_the_quota(tmp_path: Path) -> None:
    """Early, and nothing stays: neither bytes on disk nor bytes set aside."""
    quota = 3_000_000
    with limited(tmp_path, limits={"stored_bytes_per_user": quota}) as service:
        kb = service.knowledge_base()
        path = f"/knowledge_bases/{kb}/documents"
        body = Body(100_000_000)
        answer = service.call("POST", path, content=body, headers=body.headers)
        assert_refused(answer, "stored_bytes", quota)
        assert body.taken < quota + 1_000_000
        until_gone(service, tmp_path / "blobs")
        assert audit(service)["clean"]
        assert service.json("GET", "/limits")["quotas"]["stored_bytes"]["used"] == 0
        fitting = Body(quota)
        answer = service.call("POST", path, content=fitting, headers=fitting.headers)
        assert answer.status_code == 201, answer.text
        full = service.json("GET", "/limits")["quotas"]["stored_bytes"]
        assert full == {"used": quota, "limit": quota}
        assert_refused(service.upload(kb, "one.txt", b"1"), "stored_bytes", quota, used=quota)


def test_a_file_that_says_its_length_is_refused_before_it_is_sent(tmp_path: Path) -> None:
    """The exact number of bytes still fits, one more does not."""
    quota = 2_000_000
    with limited(tmp_path, limits={"stored_bytes_per_user": quota}) as service:
        kb = service.knowledge_base()
        path = f"/knowledge_bases/{kb}/documents"
        body = Body(50_000_000)
        length = 50_000_000 + 94 + len(body.boundary)
        headers = {**body.headers, "Content-Length": str(length)}
        answer = service.call("POST", path, content=body, headers=headers)
        assert_refused(answer, "stored_bytes", quota, used=0)
        assert body.taken <= 10 * 65_536
        too_long = service.upload(kb, "a.txt", b"x" * (quota + 1), on_duplicate="keep")
        assert_refused(too_long, "stored_bytes", quota)
        assert service.upload(kb, "a.txt", b"x" * quota, on_duplicate="keep").status_code == 201


def test_a_length_beyond_the_largest_file_is_refused_before_it_is_sent(tmp_path: Path) -> None:
    """Nobody sends gigabytes to be told in the end."""
    with limited(tmp_path, limits={"upload_bytes": 1_000_000}) as service:
        kb = service.knowledge_base()
        body = Body(50_000_000)
        headers = {**body.headers, "Content-Length": "50000100"}
        path = f"/knowledge_bases/{kb}/documents"
        answer = service.call("POST", path, content=body, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
        assert body.taken <= 10 * 65_536


def test_a_shared_knowledge_base_uses_the_quota_of_its_owner(tmp_path: Path) -> None:
    """Who uploads into it is not told how much the owner has."""
    with limited(tmp_path, limits={"documents_per_user": 1}) as service:
        kb = service.knowledge_base()
        service.json(
            "PUT",
            f"/knowledge_bases/{kb}/shares/bob",
            json={"permission": "edit"},
        )
        assert service.upload(kb, "a.txt", b"one", user="bob").status_code == 201
        refused = service.upload(kb, "b.txt", b"two", user="bob")
        assert (refused.status_code, refused.json()["code"]) == (403, "storage_quota_exceeded")
        assert refused.json()["details"] == {"quota": "documents"}
        assert_refused(service.upload(kb, "b.txt", b"two"), "documents", 1, used=1)
        assert service.json("GET", "/limits", user="bob")["quotas"]["documents"]["used"] == 0


def test_a_tenant_may_have_limits_of_its_own(tmp_path: Path) -> None:
    """The hook may be async; what it leaves out is as for everybody."""

    async def limits_for(user_id: str) -> TenantLimits | None:
        return TenantLimits(documents=0, searches_per_minute=7) if user_id == "big" else None

    limits = {"documents_per_user": 1, "stored_bytes_per_user": 1_000}
    with limited(tmp_path, limits=limits, limits_for=limits_for) as service:
        for user, status in (("small", 403), ("big", 201)):
            kb = service.knowledge_base(user=user)
            assert service.upload(kb, "a.txt", b"one", user=user).status_code == 201
            assert service.upload(kb, "b.txt", b"two", user=user).status_code == status
        shown = service.json("GET", "/limits", user="big")
        assert shown["quotas"]["documents"] == {"used": 2, "limit": None}
        assert shown["quotas"]["stored_bytes"]["limit"] == 1_000
        assert shown["rates"]["searches_per_minute"] == 7
        path = "/knowledge_bases/supported_content_types"
        assert service.json("GET", path, user="big")["limits"]["documents_per_user"] == 0
        assert service.json("GET", path, user="small")["limits"]["documents_per_user"] == 1


def test_without_settings_a_service_for_one_machine_has_no_quotas(
    service: RestService, user: str
) -> None:
    """Only what is pending is bounded, and searches at once."""
    shown = service.json("GET", "/limits", user=user)
    assert {name: use["limit"] for name, use in shown["quotas"].items()} == {
        "knowledge_bases": None, "documents": None, "stored_bytes": None, "pending": 20_000,
    }  # fmt: skip
    assert shown["rates"] == {
        "requests_per_minute": None, "searches_per_minute": None, "searches_at_once": 8,
    }  # fmt: skip


def key_of(service: RestService, owner: str, **fields: Any) -> dict[str, str]:
    body = {"user_id": owner, "name": "ci", **fields}
    made = service.json(
        "POST", "/operator/api_keys", status=201, user=None, headers=OPERATOR, json=body
    )
    return {"Authorization": f"Bearer {made['key']}"}


def test_a_key_for_some_knowledge_bases_is_not_told_the_totals(tmp_path: Path) -> None:
    """They tell of knowledge bases that the key does not reach; limits are no secret."""
    storage = InMemoryStorage()
    with limited(tmp_path, storage=storage, identity=ApiKeyIdentity(storage)) as service:
        narrow = key_of(service, "alice", knowledge_base_ids=[uuid.uuid4().hex])
        quotas = service.json("GET", "/limits", user=None, headers=narrow)["quotas"]
        assert {use["used"] for use in quotas.values()} == {None}
        assert quotas["documents"]["limit"] == 1_000_000
        whole = key_of(service, "alice")
        quotas = service.json("GET", "/limits", user=None, headers=whole)["quotas"]
        assert quotas["documents"]["used"] == 0


def test_too_many_requests_are_told_when_to_come_again(tmp_path: Path) -> None:
    """Every key of a tenant counts; other tenants and the operator are not held up."""
    storage = InMemoryStorage()
    limits = {"requests_per_minute": 12, "searches_per_minute": 0}
    identity = ApiKeyIdentity(storage)
    with limited(tmp_path, limits=limits, storage=storage, identity=identity) as service:
        keys = [key_of(service, "alice"), key_of(service, "alice")]
        answers = [
            service.call("GET", "/knowledge_bases/", user=None, headers=keys[number % 2])
            for number in range(6)
        ]
        assert [answer.status_code for answer in answers[:3]] == [200] * 3
        last = answers[-1]
        assert (last.status_code, last.json()["code"]) == (429, "rate_limited")
        assert 1 <= int(last.headers["retry-after"]) <= 5
        assert last.json()["details"] == {"quota": "requests_per_minute", "limit": 12}
        other = key_of(service, "bob")
        assert service.call("GET", "/limits", user=None, headers=other).status_code == 200


def test_searches_have_a_rate_of_their_own(tmp_path: Path) -> None:
    """Lists go on while searches are too many."""
    with limited(tmp_path, limits={"searches_per_minute": 4}) as service:
        kb = service.knowledge_base()
        path = f"/knowledge_bases/{kb}/search"
        first, second = (service.call("POST", path, json={"query": "x"}) for _ in range(2))
        assert (first.status_code, second.status_code) == (200, 429)
        assert second.json()["details"]["quota"] == "searches_per_minute"
        assert int(second.headers["retry-after"]) >= 1
        assert service.call("GET", f"/knowledge_bases/{kb}").status_code == 200


def test_slow_searches_of_one_tenant_hold_up_nobody_else(tmp_path: Path) -> None:
    """They wait for each other, and beyond that they are told to come again."""
    storage = InMemoryStorage()
    limits = {"searches_at_once": 2, "searches_waiting": 1}
    with limited(tmp_path, limits=limits, storage=storage) as service:
        slow, quick = service.knowledge_base(user="slow"), service.knowledge_base(user="quick")
        model = service.app.state.agentscope.parts.service.manager.model
        model.hang(match="hang")

        async def search(kb: str, user: str, query: str) -> httpx.Response:
            path = f"/knowledge_bases/{kb}/search"
            body = {"query": query, "mode": "vector"}
            return await service._client.post(path, headers={"X-User-ID": user}, json=body)

        async def tell() -> list[int]:
            async with asyncio.timeout(30):
                held = [asyncio.create_task(search(slow, "slow", "hang")) for _ in range(4)]
                refused, _ = await asyncio.wait(held, return_when=asyncio.FIRST_COMPLETED)
                other = await search(quick, "quick", "anything")
                statuses = [other.status_code, *(task.result().status_code for task in refused)]
                model.heal()
                answers = await asyncio.gather(*held)
                return statuses + sorted(answer.status_code for answer in answers)

        assert service.run(tell()) == [200, 429, 200, 200, 200, 429]


def test_the_bounds_of_pages_and_id_lists_are_documented_and_hold(
    service: RestService, user: str
) -> None:
    """What OpenAPI says is what the service does, and what it shows among its limits."""
    document = service.app.openapi()
    path = "/knowledge_bases/{knowledge_base_id}/documents"
    parameters = {item["name"]: item for item in document["paths"][path]["get"]["parameters"]}
    assert parameters["page_size"]["schema"]["maximum"] == 128
    status = document["paths"][f"{path}/status"]["get"]["parameters"]
    described = next(item for item in status if item["name"] == "ids")
    limits = service.json("GET", "/knowledge_bases/supported_content_types", user=user)["limits"]
    assert limits["page_size"] == 128
    assert f"{limits['status_ids']:,}" in described["description"]
    kb = service.knowledge_base(user=user)
    documents = f"/knowledge_bases/{kb}/documents"
    beyond = service.call("GET", documents, user=user, params={"page_size": 129})
    assert beyond.status_code == 422
    names = map("".join, itertools.product(string.ascii_lowercase, repeat=3))
    ids = ",".join(itertools.islice(names, limits["status_ids"] + 1))
    answer = service.call("GET", f"{documents}/status?ids={ids}", user=user)
    assert answer.status_code == 422
