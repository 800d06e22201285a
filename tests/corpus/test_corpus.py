"""Every file of the shared corpus goes through one served process and ends as its row says.

The rows come from the corpus; nothing here knows a file. What a row expects is compared as the
corpus's README says: after NFKC, without invisible characters and without white space. The bars of
the tables that this product writes are taken for white space.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from agentscope.testing.live_service import LiveService, connected, whole_text
from agentscope.testing.processes import serving
from agentscope.testing.shared_data import shared_folder

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("corpus"), pytest.mark.timeout(900)]

UPLOADERS = 6
SECONDS_PER_FILE = 240
TEXT_SHARE = 0.99
SERVICE_GROWTH_BYTES = 200 * 1024 * 1024
INVISIBLE = dict.fromkeys(
    code for code in range(0x110000) if unicodedata.category(chr(code)) == "Cf"
)
CODES = {
    "no_text": {"no_text"},
    "error_encrypted": {"encrypted_file"},
    "error_corrupt": {"corrupt_file", "no_text", "parse_limit"},
}
RECOGNISED = "recognised from a picture"
CANARY = "After all of it the harbour master still counts lemons."


@dataclass(frozen=True)
class Outcome:
    """How one row ended."""

    path: str
    expect: str
    status: str
    code: str
    message: str
    claimed: bool
    problem: str

    def __str__(self) -> str:
        return f"{self.expect}: {self.path}: {self.status} {self.code} {self.message}" + (
            f" -- {self.problem}" if self.problem else ""
        )


@dataclass(frozen=True)
class Result:
    """What one pass over the corpus gave."""

    outcomes: list[Outcome]
    growth_bytes: int
    canary: bool

    def bad(self, *expected: str) -> list[str]:
        """Return the rows of these kinds that did not end as they should."""
        return [str(row) for row in self.outcomes if row.expect in expected and row.problem]

    def table(self) -> str:
        """Return how many rows of each kind ended how."""
        counts = Counter((row.expect, row.status, row.code) for row in self.outcomes)
        return "\n".join(f"{n:4} {' '.join(key)}" for key, n in sorted(counts.items()))


def normal(text: str) -> str:
    """Return the text in the form in which rows are compared."""
    text = unicodedata.normalize("NFKC", text).translate(INVISIBLE)
    return "".join(unicodedata.normalize("NFKC", text).replace("|", " ").split())


def rows(corpus: Path) -> list[dict[str, str]]:
    """Return the manifest."""
    lines = (corpus / "manifest.tsv").read_text("utf-8").split("\n")
    names = lines[0].split("\t")
    return [dict(zip(names, line.split("\t"), strict=True)) for line in lines[1:] if line]


class Pass:
    """One pass of all files through one service."""

    def __init__(self, service: LiveService, corpus: Path) -> None:
        self.service = service
        self.corpus = corpus
        self.knowledge_base = service.knowledge_base("corpus")
        supported = service.json("GET", "/knowledge_bases/supported_content_types")
        self.claims = {*supported["media_types"], *supported["extensions"]}

    def judge(self, row: dict[str, str]) -> Outcome:
        """Upload one file, wait for its end and compare it with its row."""
        path = self.corpus / row["path"]
        media_type = row["media_type"].split(" ")[0]
        name = f"file-{row['sha256'][:8]}{path.suffix}"  # a telling name must not help a message
        claimed = media_type in self.claims or path.suffix.lower() in self.claims
        answer = self.service.upload(self.knowledge_base, name, path.read_bytes(), media_type)
        if answer.status_code != 201:
            told = answer.json().get("detail", "")
            fine = answer.status_code == 415 and "not supported" in told and not claimed
            problem = "" if fine else "refused"
            return Outcome(row["path"], row["expect"], "refused", "415", "", claimed, problem)
        document = answer.json()["document_id"]
        views = self.service.settled(self.knowledge_base, [document], seconds=SECONDS_PER_FILE)
        view = views[document]
        detail = view["error_detail"] or {}
        return Outcome(
            row["path"],
            row["expect"],
            view["status"],
            detail.get("code", ""),
            view["error"] or "",
            claimed,
            self.problem(row, view, detail.get("code", "")),
        )

    def problem(self, row: dict[str, str], view: dict[str, Any], code: str) -> str:
        """Return what is wrong with the end of a document, "" if nothing is."""
        expect = row["expect"]
        if view["status"] == "error":
            sentence = view["error"] or ""
            if not sentence.strip() or "\n" in sentence or "Traceback" in sentence:
                return "the message is not one sentence"
            if expect == "text":
                return "not indexed"
            return "" if code in CODES.get(expect, {code}) else "the code does not say why"
        text = whole_text(self.service.chunks(self.knowledge_base, view["id"]))
        if expect == "text":
            wanted = normal(row["must_contain"])
            found = bool(text.strip()) and wanted in normal(text)
            return "" if found else "the text is not in its chunks"
        if expect == "no_text" and any(RECOGNISED in said for said in view["warnings"]):
            return ""  # a scan that text recognition could read, and that says so
        if expect in CODES:
            empty = not text.strip() and bool(view["warnings"])
            return "" if empty and expect != "error_encrypted" else "ready"
        return ""

    def canary(self) -> bool:
        """Say whether the service still indexes and finds."""
        sent = self.service.upload(self.knowledge_base, "canary.txt", CANARY.encode()).json()
        [view] = self.service.settled(
            self.knowledge_base, [sent["document_id"]], seconds=60
        ).values()
        hits = self.service.search(self.knowledge_base, CANARY)
        return bool(view["status"] == "ready" and hits[0]["document_id"] == view["id"])


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Result]:
    """All rows through one service."""
    corpus = shared_folder("corpus")
    folder = tmp_path_factory.mktemp("corpus")
    limits = {"AGENTSCOPE_PARSE_TIMEOUT_SECONDS": "200"}
    with serving(folder / "data", environment=limits) as served:
        assert served.popen is not None
        process = psutil.Process(served.popen.pid)
        with connected(served.base_url) as service:
            whole = Pass(service, corpus)
            before = process.memory_info().rss
            with ThreadPoolExecutor(UPLOADERS) as uploaders:
                outcomes = list(uploaders.map(whole.judge, rows(corpus)))
            canary = whole.canary()
        assert served.popen.poll() is None
        yield Result(outcomes, process.memory_info().rss - before, canary)


def test_at_least_99_percent_of_the_texts_are_read(result: Result) -> None:
    """The text that the row names stands in the chunks."""
    bad = result.bad("text")
    count = sum(row.expect == "text" for row in result.outcomes)
    assert count > 0
    assert len(bad) <= (1 - TEXT_SHARE) * count, "\n".join([*bad, result.table()])


@pytest.mark.parametrize("expect", ["no_text", "error_encrypted", "error_corrupt"])
def test_what_cannot_be_read_says_why(result: Result, expect: str) -> None:
    """A blank, encrypted or damaged file ends in its own code, never as ready with content."""
    assert result.bad(expect) == [], result.table()


def test_hostile_files_and_pictures_come_to_an_end(result: Result) -> None:
    """Each ends in a clean state, or is refused by type at the door."""
    assert result.bad("bounded", "image") == [], result.table()


def test_the_service_survives_in_bounded_memory(result: Result) -> None:
    """Files are read in other processes: the service neither grows nor stops indexing."""
    assert result.canary
    assert result.growth_bytes < SERVICE_GROWTH_BYTES
