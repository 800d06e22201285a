"""A synchronous REST client of a served process, for tests that use the product as a user does."""

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx

SETTLED = ("ready", "error")
PAGE = 100


class LiveService:
    """Speaks to one service as one user; safe to share between threads."""

    def __init__(self, client: httpx.Client) -> None:
        self.client = client

    def json(self, method: str, path: str, *, status: int = 200, **options: Any) -> Any:
        """Return the decoded answer of a call that must succeed."""
        answer = self.client.request(method, path, **options)
        assert answer.status_code == status, f"{answer.status_code}: {answer.text[:500]}"
        return answer.json() if answer.content else None

    def knowledge_base(self, name: str, model: Mapping[str, Any] | None = None) -> str:
        """Create a knowledge base, with the built-in model unless another is named."""
        body = {"name": name, "embedding_model_config": model or self.built_in_model()}
        made = self.json("POST", "/knowledge_bases/", status=201, json=body)
        return str(made["knowledge_base_id"])

    def built_in_model(self) -> dict[str, Any]:
        """Return the configuration of the first model that is offered."""
        offer = self.json("GET", "/knowledge_bases/embedding_models")["providers"][0]
        card = offer["models"][0]
        return {
            "type": offer["credential"]["data"]["type"],
            "credential_id": offer["credential"]["id"],
            "model": card["name"],
            "dimensions": card["dimensions"],
        }

    def upload(
        self, knowledge_base_id: str, name: str, content: bytes, media_type: str = "text/plain"
    ) -> httpx.Response:
        """Upload one file."""
        return self.client.post(
            f"/knowledge_bases/{knowledge_base_id}/documents",
            files={"file": (name, content, media_type)},
        )

    def settled(
        self, knowledge_base_id: str, ids: Iterable[str], *, seconds: float
    ) -> dict[str, dict[str, Any]]:
        """Return the documents once each is ready or has failed."""
        views: dict[str, dict[str, Any]] = {}
        open_ids = list(ids)
        deadline = time.monotonic() + seconds
        while open_ids:
            assert time.monotonic() < deadline, f"not settled: {open_ids[:5]}"
            answer = self.json(
                "GET",
                f"/knowledge_bases/{knowledge_base_id}/documents/status",
                params={"ids": ",".join(open_ids[:PAGE])},
            )
            views |= {view["id"]: view for view in answer["items"] if view["status"] in SETTLED}
            open_ids = [known for known in open_ids if known not in views]
            if open_ids:
                time.sleep(0.1)
        return views

    def chunks(self, knowledge_base_id: str, document_id: str) -> Iterator[dict[str, Any]]:
        """Yield all chunks of a document in order."""
        path = f"/knowledge_bases/{knowledge_base_id}/documents/{document_id}/chunks"
        page = 1
        while True:
            batch = self.json("GET", path, params={"page": page, "page_size": PAGE})["chunks"]
            yield from batch
            if len(batch) < PAGE:
                return
            page += 1

    def search(self, knowledge_base_id: str, query: str, **options: Any) -> list[dict[str, Any]]:
        """Return the hits, best first."""
        path = f"/knowledge_bases/{knowledge_base_id}/search"
        results: list[dict[str, Any]] = self.json("POST", path, json={"query": query, **options})[
            "results"
        ]
        return results


@contextmanager
def connected(base_url: str, *, user: str = "default") -> Iterator[LiveService]:
    """Open a client of the service at `base_url`."""
    with httpx.Client(
        base_url=base_url, headers={"X-User-ID": user}, timeout=120, trust_env=False
    ) as client:
        yield LiveService(client)


def whole_text(chunks: Iterable[Mapping[str, Any]]) -> str:
    """Return the text that chunks were cut from: overlaps removed, sections one per line."""
    sections: dict[int, str] = {}
    for chunk in chunks:
        text = chunk["content"].get("text")
        if text is None:
            continue
        where = chunk["metadata"]
        text = text[where.get("prefix_chars", 0) :]
        number, start = where.get("section_index", 0), where.get("char_start", 0)
        known = sections.get(number, "")
        sections[number] = known + text[max(0, len(known) - start) :]
    return "\n".join(sections[number] for number in sorted(sections))
