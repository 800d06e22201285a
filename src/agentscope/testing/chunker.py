"""The suite every chunker passes. Subclass `ChunkerSuite` and give it a chunker."""

import abc
import pickle
from collections.abc import Iterator

import pytest

from agentscope.message.blocks import Base64Source, DataBlock, TextBlock
from agentscope.rag.chunker.base import ChunkerBase
from agentscope.rag.document import Chunk, Section

TEXTS = (
    "",
    " \n\t ",
    "one word",
    "Sentence one. Sentence two! Sentence three? " * 40,
    "line of a file\n" * 100,
    "# Title\n\nPara.\n\n## Sub\n\n| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 80,
    "```\n" + "code = 1\n" * 60 + "```\n",
    "知识库检索增强生成，混合检索与重排序。" * 60,
    "ひらがなとカタカナと漢字。" * 40,
    "한국어 문장은 띄어쓰기가 있다. " * 40,
    "x" * 3000,
    "🇩🇪🇫🇷👩‍👩‍👧‍👦👍🏽e\u0301" * 80,
    "\u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22" * 80,
    "a\r\nb\r\n\r\n" * 120,
)


def sections_of(*texts: str) -> list[Section]:
    """Return one section per text, from one source."""
    return [Section(content=TextBlock(text=text), source="file.txt") for text in texts]


def text_of(chunk: Chunk) -> str:
    """Return the text that a chunk shows of its section, without a repeated header."""
    assert isinstance(chunk.content, TextBlock)
    return chunk.content.text[int(chunk.metadata.get("prefix_chars", 0)) :]


def put_together(chunks: list[Chunk], text: str) -> str:
    """Return `text` from its chunks; only white space between two chunks may be taken from it.

    Raises:
        AssertionError: a range is wrong, or something else than white space is missing.
    """
    whole = ""
    for chunk in chunks:
        start, end = chunk.metadata["char_start"], chunk.metadata["char_end"]
        assert text_of(chunk) == text[start:end]
        gap = text[len(whole) : start]
        assert not gap.strip()
        assert end > len(whole)
        whole += gap + text[max(start, len(whole)) : end]
    rest = text[len(whole) :]
    assert not rest.strip()
    return whole + rest


class ChunkerSuite(abc.ABC):
    """What a chunker must hold."""

    @abc.abstractmethod
    def chunker(self, chunk_size: int, overlap: int) -> ChunkerBase:
        """Return a chunker of this size."""

    @pytest.mark.parametrize(("chunk_size", "overlap"), [(512, 50), (40, 10), (7, 6), (1, 0)])
    def test_every_text_can_be_put_together_again(self, chunk_size: int, overlap: int) -> None:
        """Ranges are exact, in order, without gaps; no chunk is longer than asked."""
        for text in TEXTS:
            chunks = list(self.chunker(chunk_size, overlap).iter_chunks(sections_of(text)))
            assert put_together(chunks, text) == text
            for chunk in chunks:
                assert isinstance(chunk.content, TextBlock)
                assert len(chunk.content.text.encode()) // 4 <= chunk_size

    async def test_chunks_are_numbered_over_the_whole_document(self) -> None:
        """From 0 without gaps, with the same total everywhere, never across sections."""
        sections = sections_of("first " * 100, "  ", "second " * 100)
        chunks = await self.chunker(20, 5).chunk(sections)
        assert [chunk.chunk_index for chunk in chunks] == list(range(len(chunks)))
        assert {chunk.total_chunks for chunk in chunks} == {len(chunks)}
        assert {chunk.metadata["section_index"] for chunk in chunks} == {0, 2}

    async def test_source_and_metadata_are_copied(self) -> None:
        """And the section itself stays as it was."""
        section = Section(content=TextBlock(text="a text"), source="s.pdf", metadata={"page": 3})
        (chunk,) = await self.chunker(512, 50).chunk([section])
        assert chunk.source == "s.pdf"
        assert chunk.metadata["page"] == 3
        assert section.metadata == {"page": 3}

    async def test_data_blocks_pass_through(self) -> None:
        """One chunk each, unchanged."""
        block = DataBlock(source=Base64Source(data="AAAA", media_type="image/png"))
        (chunk,) = await self.chunker(8, 2).chunk([Section(content=block, source="a.png")])
        assert chunk.content == block

    async def test_blank_text_gives_no_chunk(self) -> None:
        """Nor does a document without sections."""
        assert await self.chunker(8, 2).chunk(sections_of("", " \n\u3000\t")) == []
        assert await self.chunker(8, 2).chunk([]) == []

    def test_the_same_text_gives_the_same_chunks(self) -> None:
        """Also from a pickled copy."""
        chunker = self.chunker(16, 4)
        copy = pickle.loads(pickle.dumps(chunker))
        for text in TEXTS:
            one = [text_of(chunk) for chunk in chunker.iter_chunks(sections_of(text))]
            two = [text_of(chunk) for chunk in copy.iter_chunks(sections_of(text))]
            assert one == two

    def test_sections_are_read_one_at_a_time(self) -> None:
        """The first chunk comes before the second section was asked for."""
        asked: list[int] = []

        def lazily() -> Iterator[Section]:
            for number in range(3):
                asked.append(number)
                yield from sections_of("some text here")

        next(self.chunker(512, 50).iter_chunks(lazily()))
        assert asked == [0]
