"""The suite every parser passes. Subclass `ParserSuite` and give it a parser and files."""

import abc
import pickle
import tempfile
from pathlib import Path

import pytest

from agentscope.errors import ParseError
from agentscope.message.blocks import TextBlock
from agentscope.rag.document import ParseReport, Section
from agentscope.rag.parser.base import ParseOptions, ParserBase


def read(
    parser: ParserBase, file: bytes | Path, filename: str, options: ParseOptions | None = None
) -> tuple[list[Section], ParseReport]:
    """Return all sections of `file` and what the parser noticed."""
    report = ParseReport()
    sections = list(parser.iter_sections(file, filename, options or ParseOptions(), report))
    return sections, report


def shape(sections: list[Section]) -> list[tuple[str, str, dict[str, object]]]:
    """Return what must be equal between two readings: everything but ids and times."""
    return [
        (
            section.content.text
            if isinstance(section.content, TextBlock)
            else section.content.source.model_dump_json(),
            section.source,
            section.metadata,
        )
        for section in sections
    ]


class ParserSuite(abc.ABC):
    """What a parser must hold."""

    filename: str
    words: str
    """A phrase that the text of `sample` holds, or empty for parsers that give no text."""

    @abc.abstractmethod
    def parser(self) -> ParserBase:
        """Return the parser."""

    @abc.abstractmethod
    def sample(self) -> bytes:
        """Return a small good file."""

    def broken(self) -> list[bytes]:
        """Return files that the parser must refuse with `ParseError`."""
        return [b""]

    def test_the_words_of_the_file_are_found(self) -> None:
        """In the text of the sections, which carry the file name."""
        sections, _ = read(self.parser(), self.sample(), self.filename)
        text = "\n".join(item[0] for item in shape(sections))
        assert sections
        assert self.words in text
        assert {section.source for section in sections} == {self.filename}

    def test_bytes_and_path_give_the_same(self) -> None:
        """Also twice in a row."""
        parser, data = self.parser(), self.sample()
        first = shape(read(parser, data, self.filename)[0])
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "file"
            path.write_bytes(data)
            assert shape(read(parser, path, self.filename)[0]) == first
        assert shape(read(parser, data, self.filename)[0]) == first

    async def test_parse_gives_what_iter_sections_gives(self) -> None:
        """For bytes and for a path given as `str`."""
        parser, data = self.parser(), self.sample()
        expected = shape(read(parser, data, self.filename)[0])
        assert shape(await parser.parse(data, self.filename)) == expected
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "file"
            path.write_bytes(data)
            assert shape(await parser.parse(str(path), self.filename)) == expected

    def test_a_pickled_parser_reads_the_same(self) -> None:
        """The service sends parsers to child processes."""
        parser = self.parser()
        copy = pickle.loads(pickle.dumps(parser))
        data = self.sample()
        assert shape(read(copy, data, self.filename)[0]) == shape(
            read(parser, data, self.filename)[0]
        )

    def test_no_text_holds_nul_or_half_a_surrogate(self) -> None:
        """Neither can be stored in a database or sent as JSON."""
        for text, _, _ in shape(read(self.parser(), self.sample(), self.filename)[0]):
            assert "\x00" not in text
            text.encode("utf-8")

    def test_broken_files_are_refused_with_a_plain_sentence(self) -> None:
        """No other error, and nothing about classes or paths in the message."""
        for data in self.broken():
            with pytest.raises(ParseError) as caught:
                read(self.parser(), data, self.filename)
            message = caught.value.message
            assert message.endswith((".", ")"))
            assert "Error" not in message
            assert "/" not in message

    def test_a_missing_file_is_file_not_found(self) -> None:
        """A path that is not there is the caller's mistake, not a bad file."""
        with (
            tempfile.TemporaryDirectory() as directory,
            pytest.raises(FileNotFoundError),
        ):
            read(self.parser(), Path(directory) / "missing", self.filename)

    def test_media_types_and_extensions_are_plain(self) -> None:
        """Lower case, without parameters; extensions with their dot, sorted."""
        parser = self.parser()
        assert parser.supported_media_types
        for name in parser.supported_media_types:
            assert name == name.lower()
            assert "/" in name
            assert ";" not in name
        extensions = parser.supported_extensions()
        assert extensions == sorted(set(extensions))
        assert all(one.startswith(".") and one == one.lower() for one in extensions)

    def test_the_report_counts_the_sections(self) -> None:
        """Coverage says how many parts there were and how many had text."""
        _, report = read(self.parser(), self.sample(), self.filename)
        assert report.coverage.total >= report.coverage.with_text
        assert report.coverage.total >= 1
