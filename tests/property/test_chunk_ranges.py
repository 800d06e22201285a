"""Whatever the text, its chunks put it together again, end, and tear nothing apart."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope.rag.chunker.approx_token import ApproxTokenChunker
from agentscope.rag.chunker.boundaries import splits_grapheme
from agentscope.rag.chunker.structure import StructureChunker
from agentscope.testing.chunker import put_together, sections_of, text_of

PIECES = st.sampled_from(
    [
        "a", "word ", "Two. ", "\n", "\n\n", "\r\n", " ", "\t", "# Head\n", "## Sub\n", "|a|b|\n",
        "|-|-|\n", "```\n", "====\n", "。", "知识库", "ひらがな", "한국어 ", "🇩🇪", "👩‍👩‍👧", "👍🏽",
        "e\u0301", "\u1112\u1161\u11ab", "\u0e01\u0e33", "\u200d", "\ufe0f", "\U00020000", "\u3000",
    ]
)  # fmt: skip
TEXTS = st.one_of(st.lists(PIECES, max_size=80).map("".join), st.text(max_size=200))
SIZES = st.integers(1, 50).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size - 1)))


@settings(max_examples=150, deadline=None)
@given(TEXTS, SIZES)
@pytest.mark.parametrize("kind", [ApproxTokenChunker, StructureChunker])
def test_ranges_put_every_text_together_again(
    kind: type[ApproxTokenChunker] | type[StructureChunker], text: str, sizes: tuple[int, int]
) -> None:
    """No text is lost or doubled, no chunk is too long, none holds half a surrogate pair."""
    chunk_size, overlap = sizes
    chunks = list(kind(chunk_size, overlap).iter_chunks(sections_of(text)))
    assert put_together(chunks, text) == text
    for chunk in chunks:
        shown = text_of(chunk)
        assert len(shown.encode()) // 4 <= chunk_size
        assert shown.strip()


@settings(max_examples=150, deadline=None)
@given(TEXTS, st.integers(9, 50))
def test_no_visible_character_is_torn(text: str, chunk_size: int) -> None:
    """Where a window has room for the whole character, cuts fall between characters."""
    clusters = 0
    longest = 0
    for at in range(1, len(text)):
        clusters = clusters + 1 if splits_grapheme(text, at) else 0
        longest = max(longest, clusters)
    if longest > 6:
        return
    for chunk in ApproxTokenChunker(chunk_size, 2).iter_chunks(sections_of(text)):
        assert not splits_grapheme(text, chunk.metadata["char_end"])


@settings(max_examples=60, deadline=None)
@given(TEXTS, SIZES)
def test_neighbours_share_at_most_the_overlap(text: str, sizes: tuple[int, int]) -> None:
    """The shared part is never longer than asked, in bytes."""
    chunk_size, overlap = sizes
    chunks = list(ApproxTokenChunker(chunk_size, overlap).iter_chunks(sections_of(text)))
    for one, two in pairwise(chunks):
        shared = text[two.metadata["char_start"] : one.metadata["char_end"]]
        assert len(shared.encode()) <= 4 * overlap
