"""Addresses and settings choose the parts of a service."""

from pathlib import Path

import pytest

from agentscope.app.rag.blob_store.azure import AzureBlobStore
from agentscope.app.rag.blob_store.google import GoogleBlobStore
from agentscope.app.rag.blob_store.s3 import S3BlobStore
from agentscope.app.rag.knowledge_base_manager.collection_per_kb import CollectionPerKbManager
from agentscope.app.rag.knowledge_base_manager.dimension_policy import (
    DimensionPolicy,
    DimensionPolicyKind,
)
from agentscope.app.rag.knowledge_base_manager.shared_collection import SharedCollectionManager
from agentscope.app.settings import Settings
from agentscope.app.storage.memory.store import InMemoryStorage
from agentscope.cli.application import manager_of
from agentscope.cli.back_ends import Addresses, blobs_at
from agentscope.cli.data_directory import DataDirectory
from agentscope.cli.place import Place
from agentscope.errors import ConfigurationError


@pytest.mark.parametrize(
    ("url", "kind", "prefix"),
    [
        ("s3://originals?endpoint=http://127.0.0.1:9&region=x", S3BlobStore, "s3://originals/"),
        ("gs://originals", GoogleBlobStore, "gs://originals/"),
        ("az://originals?account=mine", AzureBlobStore, "az://originals/"),
    ],
)
def test_an_address_names_the_blob_store(url: str, kind: type[S3BlobStore], prefix: str) -> None:
    """Options of the address never stand in the addresses of blobs."""
    store = blobs_at(url)
    assert isinstance(store, kind)
    assert store.uri("kb/a/b/1") == f"{prefix}kb/a/b/1"


def test_an_unknown_address_names_what_is_known() -> None:
    """The sentence can be acted on."""
    with pytest.raises(ConfigurationError, match="az, file, gs, s3"):
        blobs_at("ftp://originals")


async def test_collections_are_chosen_by_settings(tmp_path: Path) -> None:
    """Own ones by default; shared ones with the dimensions that are set."""
    place, storage = Place(DataDirectory(tmp_path), Addresses()), InMemoryStorage()
    assert isinstance(manager_of(Settings(), storage, place), CollectionPerKbManager)
    free = manager_of(Settings(collections="shared"), storage, place)
    assert isinstance(free, SharedCollectionManager)
    assert await free.get_dimension_policy() == DimensionPolicy()
    fixed = manager_of(Settings(collections="shared", shared_dimension=512), storage, place)
    policy = DimensionPolicy(DimensionPolicyKind.FIXED, 512)
    assert await fixed.get_dimension_policy() == policy
    with pytest.raises(ConfigurationError):
        Settings(collections="both")
