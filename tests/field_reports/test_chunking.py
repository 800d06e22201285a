"""Field reports about chunking: nothing cut, dropped or repeated for ever."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope.message.blocks import TextBlock
from agentscope.rag.chunker.approx_token import ApproxTokenChunker
from agentscope.rag.chunker.base import SyncChunker
from agentscope.rag.chunker.structure import StructureChunker
from agentscope.rag.document import Section
from agentscope.testing.rest import RestService, memory_app

CHUNKERS = [ApproxTokenChunker, StructureChunker]
FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467"
FLAGS = "\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7"
PIECES = st.one_of(
    st.text(max_size=40),
    st.sampled_from(["知识库检索与重排序。", "ナレッジベース", "지식 베이스", "\u0e01\u0e33"]),
    st.sampled_from([FAMILY, FLAGS, "e\u0301\u0323", "\u200d", "word " * 30, "a" * 200]),
    st.sampled_from(["\n\n", "\r\n", "# Heading\n", "```\ncode\n```\n"]),
    st.just("| a | b |\n|---|---|\n| 1 | 2 |\n"),
)
TEXTS = st.lists(PIECES, max_size=12).map("".join)


@given(
    text=TEXTS,
    size=st.integers(1, 50),
    share=st.floats(0, 0.99),
    kind=st.sampled_from(CHUNKERS),
)
@settings(max_examples=400, deadline=None)
def test_field_report_57_chunks_give_the_text_again(
    text: str, size: int, share: float, kind: type[ApproxTokenChunker] | type[StructureChunker]
) -> None:
    """Without their overlap, chunks are the input; none holds half a character."""
    chunker: SyncChunker = kind(chunk_size=size, overlap=int(size * share))
    section = Section(content=TextBlock(text=text), source="f")
    chunks = list(chunker.iter_chunks([section]))
    reached = 0
    for number, chunk in enumerate(chunks):
        assert isinstance(chunk.content, TextBlock)
        start, end = chunk.metadata["char_start"], chunk.metadata["char_end"]
        shown = chunk.content.text[chunk.metadata.get("prefix_chars", 0) :]
        assert shown == text[start:end]
        assert chunk.chunk_index == number
        assert start <= reached or not text[reached:start].strip()
        assert end > reached, "each chunk brings something new"
        reached = end
        chunk.content.text.encode()
    assert not text[reached:].strip()


def test_field_report_57_an_overlap_as_large_as_the_chunk_is_refused(tmp_path: Path) -> None:
    """Over REST with 422, in the library with a ValueError."""
    for kind in CHUNKERS:
        with pytest.raises(ValueError, match="overlap"):
            kind(chunk_size=10, overlap=10)
    with RestService(memory_app(tmp_path)) as service:
        config = {
            "type": "local_credential",
            "credential_id": "local",
            "model": "fake-embedding",
            "dimensions": 64,
        }
        body = {
            "name": "n",
            "embedding_model_config": config,
            "chunker_config": {
                "type": "approx_token",
                "parameters": {"chunk_size": 10, "overlap": 10},
            },
        }
        answer = service.call("POST", "/knowledge_bases/", json=body)
        assert answer.status_code == 422
        assert "overlap" in answer.json()["detail"]
