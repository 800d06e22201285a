"""Field reports about what a user sees while a document is indexed."""

import time

from tests.field_reports.test_parsers import PDF, picture_pdf

from agentscope.testing.rest import RestService

PAGES = 500
STAGES = ["waiting", "pending", "parsing", "chunking", "indexing", "ready"]


def test_field_report_12_an_upload_is_listed_at_once(reading_service: RestService) -> None:
    """The row is there with the answer of the upload, and every later look shows it, too."""
    kb = reading_service.knowledge_base()
    sent = reading_service.upload(kb, "a.txt", b"alpha")
    identifier = sent.json()["document_id"]
    for _ in range(3):
        listed = reading_service.json("GET", f"/knowledge_bases/{kb}/documents")
        assert [row["id"] for row in listed["documents"]] == [identifier]
        assert listed["documents"][0]["status"] in (*STAGES[1:], "ready")
    assert reading_service.settled(kb, identifier, seconds=120)["status"] == "ready"


def test_field_report_49_progress_only_moves_forward(reading_service: RestService) -> None:
    """500 pages: stages and counters never go back, and done means that it can be found."""
    kb = reading_service.knowledge_base()
    sent = reading_service.upload(
        kb, "long.pdf", picture_pdf(pages=PAGES, with_text=PAGES), media_type=PDF
    )
    identifier = sent.json()["document_id"]
    path = f"/knowledge_bases/{kb}/documents/status"
    seen: list[tuple[int, int]] = []
    deadline = time.monotonic() + 150
    while True:
        view = reading_service.json("GET", path, params={"ids": identifier})["items"][0]
        progress = view["progress"]
        seen.append((STAGES.index(view["status"]), progress["done"]))
        assert progress["done"] <= progress["total"] or progress["total"] == 0, view
        assert view["searchable"] == (view["status"] == "ready"), view
        if view["status"] == "ready":
            break
        assert time.monotonic() < deadline, view
    assert seen == sorted(seen), "a stage or a counter went back"
    query = {"query": f"page {PAGES}", "mode": "keyword"}
    assert reading_service.json("POST", f"/knowledge_bases/{kb}/search", json=query)["results"]
