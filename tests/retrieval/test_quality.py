"""How well the default finds, as a gate on the model that runs here.

All texts of a set, each fourth question; `benchmarks/bench_retrieval.py` asks all of them.
"""

from pathlib import Path

import pytest

from agentscope.embedding.local import LocalEmbeddingModel
from agentscope.rag.document import SearchMode
from agentscope.rag.vector_store.embedded import EmbeddedVectorStore
from agentscope.testing.retrieval import Exam, RetrievalSet, read_set
from agentscope.testing.shared_data import shared_folder

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("retrieval")]

BELOW_BEST_LEG = 0.005
EVERY = 4


async def ndcg_per_mode(data: RetrievalSet, folder: Path) -> dict[SearchMode, float]:
    """Return nDCG@10 of each mode over the embedded store."""
    async with LocalEmbeddingModel() as model, EmbeddedVectorStore(folder) as store:
        exam = Exam(data, model, store)
        await exam.prepare()
        return {mode: (await exam.ask(mode)).measures.ndcg for mode in SearchMode}


@pytest.mark.parametrize(("name", "least"), [("xquad-en", 0.97), ("xquad-zh", 0.96)])
async def test_hybrid_search_finds_and_beats_both_legs(
    name: str, least: float, tmp_path: Path
) -> None:
    """nDCG@10 of the default mode, and never much below the better leg alone."""
    found = await ndcg_per_mode(read_set(shared_folder("retrieval") / name, every=EVERY), tmp_path)
    hybrid = found[SearchMode.HYBRID]
    assert hybrid >= least, found
    legs = (found[SearchMode.VECTOR], found[SearchMode.KEYWORD])
    assert hybrid >= max(legs) - BELOW_BEST_LEG, found


async def test_chinese_questions_find_english_texts(tmp_path: Path) -> None:
    """Meaning crosses languages; words, of which there are none in common, do not drag it down."""
    sets = shared_folder("retrieval")
    data = read_set(sets / "xquad-en", queries=sets / "xquad-zh", every=EVERY)
    found = await ndcg_per_mode(data, tmp_path)
    assert found[SearchMode.HYBRID] >= 0.80, found
