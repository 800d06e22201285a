"""What is special to each chunker."""

import time
from typing import Any

import pytest
from pydantic import ValidationError

from agentscope.rag.chunker.approx_token import ApproxTokenChunker
from agentscope.rag.chunker.structure import StructureChunker
from agentscope.testing.chunker import sections_of, text_of

KINDS = pytest.mark.parametrize("kind", [ApproxTokenChunker, StructureChunker])
Kind = type[ApproxTokenChunker] | type[StructureChunker]


@KINDS
def test_every_documented_call_works(kind: Kind) -> None:
    """Positional integers, keywords, a parameters object, nothing."""
    assert (kind().chunk_size, kind().overlap) == (512, 50)
    assert (kind(100, 10).chunk_size, kind(100, 10).overlap) == (100, 10)
    assert kind(chunk_size=100, overlap=10).overlap == 10
    build: Any = kind
    given = kind.Parameters(chunk_size=64, overlap=8)
    assert (build(given).chunk_size, build(parameters=given).overlap) == (64, 8)


@KINDS
@pytest.mark.parametrize(
    "values", [{"chunk_size": 0}, {"chunk_size": 10, "overlap": 10}, {"overlap": -1}]
)
def test_impossible_sizes_are_refused(kind: Kind, values: dict[str, int]) -> None:
    """As validation errors, which are value errors."""
    with pytest.raises(ValidationError):
        kind(**values)
    with pytest.raises(ValueError, match=r"chunk_size|overlap"):
        kind.Parameters(**values)


def test_the_parameters_are_a_flat_form() -> None:
    """Names, bounds and defaults as documented."""
    schema = ApproxTokenChunker.Parameters.model_json_schema()
    assert schema["properties"]["chunk_size"]["default"] == 512
    assert schema["properties"]["overlap"]["default"] == 50
    assert ApproxTokenChunker.chunker_type == "approx_token"
    assert StructureChunker.chunker_type == "structure"


def texts(chunker: ApproxTokenChunker | StructureChunker, text: str) -> list[str]:
    return [text_of(chunk) for chunk in chunker.iter_chunks(sections_of(text))]


def test_a_section_that_fits_stays_whole() -> None:
    """Up to four bytes per token."""
    assert texts(ApproxTokenChunker(10, 2), "x" * 43) == ["x" * 43]


def test_windows_end_at_sentences_and_words() -> None:
    """Also at Chinese full stops; a word is cut only if it is longer than the window."""
    english = texts(ApproxTokenChunker(20, 0), "One short sentence here. " * 20)
    assert all(piece.endswith(". ") for piece in english)
    chinese = texts(ApproxTokenChunker(20, 0), "混合检索与重排序很有用。" * 20)
    assert all(piece.endswith("。") for piece in chinese)
    words = texts(ApproxTokenChunker(10, 0), "seventeen eighteen nineteen " * 20)
    assert all(piece.endswith(" ") for piece in words)


@KINDS
def test_twenty_megabytes_without_a_line_end_take_seconds(kind: Kind) -> None:
    """Linear time; the bound is generous for a busy machine."""
    started = time.monotonic()
    count = sum(1 for _ in kind().iter_chunks(sections_of("x" * 4_000_000)))
    assert count > 1900
    assert time.monotonic() - started < 60


def test_chunks_stand_under_their_headings() -> None:
    """The path is the headings above; a new heading starts a new chunk."""
    long = "# A\n\nintro\n\n## B\n### C\n\ntext\n\nTitle\n=====\n\nlast\n\nUnder\n-----\nend\n"
    paths = [
        chunk.metadata["heading_path"]
        for chunk in StructureChunker().iter_chunks(sections_of(long))
    ]
    assert paths == [["A"], ["A", "B", "C"], ["Title"], ["Title", "Under"]]


def test_rows_are_repeated_under_their_header() -> None:
    """The range of the chunk is its own rows only."""
    text = "| a | b |\n|---|---|\n" + "".join(f"| {n} | value |\n" for n in range(40))
    found = list(StructureChunker(40, 0).iter_chunks(sections_of(text)))
    assert len(found) > 2
    for chunk in found[1:]:
        assert chunk.content.type == "text"
        assert chunk.content.text.startswith("| a | b |\n|---|---|\n|")
        assert chunk.metadata["prefix_chars"] == 20


def test_code_blocks_stay_whole() -> None:
    """Headings and rows inside are code."""
    code = "```\n# no heading\n| no | row |\n\nx = 1\n```\n"
    text = "word " * 30 + "\n\n" + code + "\nafter " * 30
    assert any(code in piece for piece in texts(StructureChunker(50, 0), text))
