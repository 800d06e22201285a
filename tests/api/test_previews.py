"""Cutting a text or a document without indexing it."""

from pathlib import Path

from agentscope.rag.parser.pdf import PDFParser
from agentscope.rag.parser.text import TextParser
from agentscope.testing.rest import RestService, memory_app

TEXT = "# Leave\n\nAnnual leave is 25 days.\n\n# Sick\n\nCall your manager.\n"
PATH = "/knowledge_bases/chunkers/preview"


def test_a_text_is_cut_as_a_file_of_its_name_would_be(service: RestService, user: str) -> None:
    """Headings are known by the name; ranges lead back into the text; nothing is stored."""
    body = {"text": TEXT, "filename": "handbook.md"}
    shown = service.json("POST", PATH, user=user, json=body)
    assert shown["total"] == len(shown["chunks"]) > 0
    assert shown["media_type"] == "text/markdown"
    assert "25 days" in "".join(chunk["content"]["text"] for chunk in shown["chunks"])
    assert service.json("GET", "/knowledge_bases/", user=user)["total"] == 0


def test_parameters_change_the_cut_and_bad_ones_are_refused(
    service: RestService, user: str
) -> None:
    """The same check as at the creation of a knowledge base."""
    offered = service.json("GET", "/knowledge_bases/chunkers", user=user)["chunkers"]
    config = {"type": offered[0]["type"], "parameters": {"chunk_size": 16, "overlap": 0}}
    body = {"text": "one two three four five six. " * 60, "chunker_config": config}
    many = service.json("POST", PATH, user=user, json=body)
    few = service.json("POST", PATH, user=user, json={"text": body["text"]})
    assert many["total"] > few["total"]
    config["parameters"]["chunk_size"] = -1
    refused = service.call("POST", PATH, user=user, json=body)
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_input")
    body["chunker_config"] = {"type": "nothing", "parameters": {}}
    assert service.call("POST", PATH, user=user, json=body).status_code == 422


def test_a_long_text_shows_its_first_chunks_and_their_number(
    service: RestService, user: str
) -> None:
    """The answer stays small."""
    offered = service.json("GET", "/knowledge_bases/chunkers", user=user)["chunkers"]
    config = {"type": offered[0]["type"], "parameters": {"chunk_size": 16, "overlap": 0}}
    body = {"text": "one two three four five six. " * 5000, "chunker_config": config}
    shown = service.json("POST", PATH, user=user, json=body)
    assert len(shown["chunks"]) == 200 < shown["total"]
    assert [chunk["chunk_index"] for chunk in shown["chunks"]] == list(range(200))


def test_a_document_is_cut_anew_and_its_index_stays(service: RestService, user: str) -> None:
    """Without a wish the preview is what is indexed."""
    kb = service.knowledge_base(user=user)
    document = service.ready(kb, "long.txt", b"one two three four five six. " * 200, user=user)
    place = f"/knowledge_bases/{kb}/documents/{document}/chunks"
    indexed = service.json("GET", place, user=user)
    same = service.json("POST", f"{place}/preview", user=user, json={})
    assert [c["content"]["text"] for c in same["chunks"]][: len(indexed["chunks"])] == [
        c["content"]["text"] for c in indexed["chunks"]
    ]
    offered = service.json("GET", "/knowledge_bases/chunkers", user=user)["chunkers"]
    config = {"type": offered[0]["type"], "parameters": {"chunk_size": 16, "overlap": 0}}
    other = service.json("POST", f"{place}/preview", user=user, json={"chunker_config": config})
    assert other["total"] > same["total"] == indexed["total"]
    assert service.json("GET", place, user=user)["total"] == indexed["total"]


def test_a_type_named_at_the_upload_counts_in_the_preview_too(tmp_path: Path) -> None:
    """It was trusted when the document was indexed, whatever the content looks like."""
    app = memory_app(tmp_path, knowledge_parsers=[TextParser(), PDFParser()])
    with RestService(app) as running:
        kb = running.knowledge_base()
        data = b"%PDF-1.7 is how such a file begins."
        document = running.ready(kb, "note.pdf", data, content_type="text/plain")
        place = f"/knowledge_bases/{kb}/documents/{document}/chunks"
        shown = running.json("POST", f"{place}/preview", json={})
        assert shown["total"] == running.json("GET", place)["total"] == 1
        assert shown["media_type"] == "text/plain"


def test_what_cannot_be_read_says_so(tmp_path: Path) -> None:
    """The same codes as an indexed document would show."""
    app = memory_app(tmp_path, knowledge_parsers=[PDFParser(), TextParser()])
    with RestService(app) as running:
        kb = running.knowledge_base()
        damaged = running.upload(kb, "a.pdf", b"%PDF-1.7 broken", media_type="application/pdf")
        place = f"/knowledge_bases/{kb}/documents/{damaged.json()['document_id']}"
        answer = running.call("POST", f"{place}/chunks/preview", json={})
        assert (answer.status_code, answer.json()["code"]) == (422, "corrupt_file")
        blank = running.call("POST", PATH, json={"text": "  \n "})
        assert (blank.status_code, blank.json()["code"]) == (422, "no_text")


def test_a_part_without_parsers_says_that_it_has_no_previews(tmp_path: Path) -> None:
    """In a distributed deployment the workers read."""
    app = memory_app(tmp_path, enable_index_worker=False, knowledge_parsers=None)
    with RestService(app) as running:
        refused = running.call("POST", PATH, json={"text": TEXT})
        assert (refused.status_code, refused.json()["code"]) == (409, "conflict")
