"""Measuring a knowledge base from the command line."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from agentscope.cli.beir import corpus_uploads, read_judgements, read_queries
from agentscope.cli.entry import main
from agentscope.cli.eval import show
from agentscope.errors import InvalidInputError

CORPUS = [
    {"_id": "leave/1", "title": "Leave", "text": "Annual leave is twenty-five days."},
    {"_id": "leave/2", "text": "The canteen opens at noon."},
    {"_id": "disk", "text": "Error ERR-0x19 means that the disk is full."},
    {"_id": "disk again", "text": "Error ERR-0x19 means that the disk is full."},
    {"_id": "empty", "text": "  "},
]
QUERIES = [
    {"_id": "q1", "text": "how many days of annual leave"},
    {"_id": "q2", "text": "ERR-0x19"},
    {"_id": "unjudged", "text": "what else"},
]
QRELS = "query-id\tcorpus-id\tscore\nq1\tleave/1\t1\nq2\tdisk\t2\nq2\tdisk again\t1\nq3\tx\t1\n"


def lines(path: Path, rows: list[dict[str, str]]) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n", encoding="utf-8")
    return path


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, list(arguments), catch_exceptions=False)
    return result.exit_code, result.output


@pytest.mark.slow
def test_a_set_is_loaded_once_and_measured(tmp_path: Path) -> None:
    """Equal texts stay two documents, a second load changes nothing, figures are right."""
    corpus = lines(tmp_path / "corpus.jsonl", CORPUS)
    queries = lines(tmp_path / "queries.jsonl", QUERIES)
    qrels = tmp_path / "qrels.tsv"
    qrels.write_text(QRELS)
    data = ["--data-dir", str(tmp_path / "data")]
    load = ["ingest", "--beir", str(corpus), "--kb", "Exam", *data]
    assert run(*load) == (0, "4 ready, 0 failed, 0 unchanged, 0 refused\n")
    assert run(*load) == (0, "0 ready, 0 failed, 4 unchanged, 0 refused\n")
    ask = ["eval", "--kb", "Exam", "--queries", str(queries), "--qrels", str(qrels), *data]
    code, output = run(*ask, "--mode", "keyword", "--json")
    assert code == 0
    figures = json.loads(output)
    assert figures["queries"] == 2
    assert figures["mode"] == "keyword"
    assert figures["recall@10"] == figures["mrr@10"] == 1
    assert 0.85 < figures["ndcg@10"] <= 1
    assert 0 < figures["latency_p50_ms"] <= figures["latency_p95_ms"]
    assert figures["judged_documents_absent"] == 0
    code, output = run("eval", "--kb", "Nobody", *ask[3:])
    assert (code, output) == (1, "Error: There is no knowledge base 'Nobody'.\n")


def test_figures_are_shown_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    """And judged documents that are not there are mentioned, as they cannot be found."""
    figures = {"queries": 2, "mode": "hybrid", "ndcg@5": 0.5, "recall@5": 1.0, "mrr@5": 0.25}
    times = {"latency_p50_ms": 4.0, "latency_p95_ms": 9.5, "judged_documents_absent": 3}
    show({**figures, **times}, 5)
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "2 questions, hybrid search",
        "  nDCG@5      0.5000",
        "  Recall@5    1.0000",
        "  MRR@5       0.2500",
        "  latency p50 4.0 ms",
        "  latency p95 9.5 ms",
    ]
    assert err.startswith("3 judged documents are not in")


def test_ids_become_names_that_every_file_system_takes(tmp_path: Path) -> None:
    """The id itself is in the metadata."""
    corpus = lines(tmp_path / "corpus.jsonl", CORPUS)
    uploads = corpus_uploads(corpus, tmp_path)
    assert [upload.metadata["_id"] for upload in uploads] == [row["_id"] for row in CORPUS[:4]]
    assert uploads[0].path.name == "leave%2F1.txt"
    assert uploads[0].path.read_text() == "Leave\n\nAnnual leave is twenty-five days."


def test_malformed_sets_name_the_line(tmp_path: Path) -> None:
    """In a plain sentence."""
    path = tmp_path / "queries.jsonl"
    path.write_text('{"_id": "1", "text": "x"}\n{"_id": "2"}\n')
    with pytest.raises(InvalidInputError, match=r"Line 2 of queries\.jsonl"):
        read_queries(path)
    path.write_text("q\td\t1\nq d 1\n")
    with pytest.raises(InvalidInputError, match=r"Line 2 of queries\.jsonl"):
        read_judgements(path)
    path.write_text("q\td\t1\n")
    assert read_judgements(path) == {"q": {"d": 1.0}}


def test_paths_and_a_corpus_exclude_each_other(tmp_path: Path) -> None:
    """One of both is needed."""
    assert run("ingest", "--kb", "x", "--data-dir", str(tmp_path))[0] == 2
