"""What is special to the Qdrant store: distances, names, batches, the payload."""

import gc
import uuid
import warnings
from pathlib import Path
from typing import Any

import pytest

from agentscope.errors import DataDirectoryLockedError, InvalidInputError, VectorStoreError
from agentscope.rag.vector_store.qdrant import QdrantStore
from agentscope.testing.vector_store_data import COLLECTION, DIMENSIONS, make_point, unit


@pytest.mark.parametrize("distance", ["Cosine", "Dot", "Euclid", "Manhattan"])
async def test_the_nearest_is_first_on_every_distance(distance: Any) -> None:
    """Identical first, and a higher score is better."""
    points = [
        make_point("same", 0, unit(1, 0)),
        make_point("near", 0, unit(0.9, 0.4)),
        make_point("orthogonal", 0, unit(0, 1)),
        make_point("opposite", 0, unit(-2, 0)),
    ]
    async with QdrantStore(distance=distance) as store:
        await store.create_collection(COLLECTION, DIMENSIONS)
        await store.upsert(COLLECTION, points)
        hits = await store.search_vector(COLLECTION, unit(1, 0), top_k=4)
        assert [hit.document_id for hit in hits] == ["same", "near", "orthogonal", "opposite"]
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        again = await store.score_points(COLLECTION, unit(1, 0), hits[::-1])
        assert [(hit.document_id, hit.score) for hit in again] == [
            (hit.document_id, hit.score) for hit in hits
        ]


async def test_points_are_laid_out_as_documented() -> None:
    """`document_id` and `chunk` in the payload, a UUID as id, batches within the bound."""
    async with QdrantStore(location=":memory:") as store:
        await store.create_collection(COLLECTION, DIMENSIONS)
        await store.upsert(COLLECTION, [make_point("d1", 0, unit(1), metadata={"page": 3})])
        records, _ = await store.get_client().scroll(COLLECTION, with_payload=True)
        (record,) = records
        assert uuid.UUID(str(record.id)).version == 5
        assert record.payload["document_id"] == "d1"
        assert record.payload["run_id"] == "r1"
        assert record.payload["chunk"]["metadata"] == {"page": 3}
    assert store.get_client() is not None
    await store.aclose()
    await store.aclose()


async def test_an_unreachable_server_is_a_retryable_error() -> None:
    """In plain words, not as the client's exception."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        async with QdrantStore(url="http://127.0.0.1:9", client_kwargs={"timeout": 1}) as store:
            with pytest.raises(VectorStoreError) as caught:
                await store.ping()
            assert caught.value.retryable


# The client leaves its lock file open when it is refused.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
async def test_a_local_path_keeps_its_data_and_has_one_user(tmp_path: Path) -> None:
    """A second user is told so in plain words."""
    async with QdrantStore(path=str(tmp_path)) as store:
        await store.create_collection(COLLECTION, DIMENSIONS)
        await store.upsert(COLLECTION, [make_point("d1", 0, unit(1))])
        with pytest.raises(DataDirectoryLockedError):
            QdrantStore(path=str(tmp_path)).get_client()
        gc.collect()
    async with QdrantStore(path=str(tmp_path)) as store:
        assert await store.count(COLLECTION, "d1", "r1") == 1


def test_an_unknown_distance_is_refused() -> None:
    """At construction."""
    wrong: Any = "Cosinus"
    with pytest.raises(InvalidInputError):
        QdrantStore(distance=wrong)
