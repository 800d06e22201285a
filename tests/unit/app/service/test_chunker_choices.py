"""Chunkers that a service offers."""

from typing import ClassVar

import pytest
from pydantic import BaseModel

from agentscope.app.rag.chunker_choices import ChunkerChoices
from agentscope.app.records import ChunkerConfig
from agentscope.errors import ConfigurationError, InvalidInputError
from agentscope.rag.chunker.approx_token import ApproxTokenChunker
from agentscope.rag.chunker.base import ChunkerBase
from agentscope.rag.document import Chunk, Section


class Lines(ChunkerBase):
    """A second type."""

    chunker_type: ClassVar[str] = "lines"

    class Parameters(BaseModel):
        lines: int = 5

    def __init__(self, parameters: Parameters | None = None) -> None:
        self.parameters = parameters or self.Parameters()

    async def chunk(self, sections: list[Section]) -> list[Chunk]:
        return []


def test_the_first_choice_is_the_default() -> None:
    """With its own parameters if it is an instance."""
    choices = ChunkerChoices([Lines(Lines.Parameters(lines=7)), ApproxTokenChunker])
    config = choices.config(None)
    assert config == ChunkerConfig("lines", {"lines": 7})
    built = choices.build(config)
    assert isinstance(built, Lines)
    assert built.parameters.lines == 7
    assert [name for name, _ in choices.offered()] == ["lines", "approx_token"]


def test_what_a_knowledge_base_asks_for_wins() -> None:
    """Over the instance's parameters."""
    choices = ChunkerChoices(ApproxTokenChunker(chunk_size=100, overlap=5))
    config = choices.config(ChunkerConfig("approx_token", {"chunk_size": 50}))
    built = choices.build(config)
    assert isinstance(built, ApproxTokenChunker)
    assert (built.chunk_size, built.overlap) == (50, 5)


def test_mistakes_are_told() -> None:
    """Unknown types, bad parameters, no chunker at all, one type twice."""
    choices = ChunkerChoices(None)
    for bad in (ChunkerConfig("x"), ChunkerConfig("approx_token", {"chunk_size": 0})):
        with pytest.raises(InvalidInputError):
            choices.config(bad)
        with pytest.raises(InvalidInputError):
            choices.build(bad)
    with pytest.raises(ConfigurationError):
        ChunkerChoices([Lines, Lines])
    with pytest.raises(ConfigurationError):
        ChunkerChoices("approx_token")  # type: ignore[arg-type]  # what the check is for
