"""What `doctor` says of processes that do not fit together."""

from typing import Any

import pytest

from agentscope.cli.back_ends import Addresses, without_secrets
from agentscope.cli.shared_parts import compared
from agentscope.errors import ConfigurationError
from agentscope.installation import installed_version

OWN = {
    "bus": "postgresql://db/rag",
    "vectors": "qdrant+http://vectors:6333",
    "blobs": "s3://bucket",
}


def entry(**changes: Any) -> dict[str, Any]:
    return {
        "role": "worker",
        "indexes": True,
        "version": installed_version(),
        "host": "one",
        "skew_seconds": 0.1,
        **OWN,
        **changes,
    }


SERVICE = entry(role="service", indexes=False)


def sentences(*told: dict[str, Any], indexing: int = 1) -> str:
    return " | ".join(compared(told, indexing=indexing, own=OWN))


def test_processes_that_agree_are_not_mentioned() -> None:
    """A service and workers on two machines over the same servers."""
    assert compared([SERVICE, entry(), entry(host="two")], indexing=2, own=OWN) == []


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ([entry()], "No service has told"),
        ([SERVICE, entry(version="0.0.1")], "Different versions are at work: 0.0.1"),
        ([SERVICE, entry(skew_seconds=-60.0)], "The clock of the worker on one is 60 s behind"),
        (
            [SERVICE, entry(bus="redis://b")],
            "The signals are in different places: the service on one at postgresql://db/rag; the",
        ),
        ([SERVICE, entry(vectors="qdrant+http://b:6333")], "The vectors are in different places"),
        ([SERVICE, entry(blobs="file:///data/blobs")], "The original files are in different"),
    ],
)
def test_each_difference_is_said_in_a_sentence(told: list[dict[str, Any]], said: str) -> None:
    """With the names of the processes, and never with a password."""
    assert said in sentences(*told)


def test_a_missing_worker_is_told() -> None:
    """Uploads would wait for ever."""
    assert "No process indexes" in sentences(SERVICE, indexing=0)


def test_a_folder_on_two_machines_is_suspicious() -> None:
    """The same path is a different place on each machine, unless it is mounted."""
    here = entry(role="service", blobs="file:///data/blobs")
    there = entry(host="two", blobs="file:///data/blobs")
    said = compared([here, there], indexing=1, own={**OWN, "blobs": "file:///data/blobs"})
    assert len(said) == 1
    assert "which is a different place on each of the machines one, two" in said[0]


def test_addresses_of_this_process_are_compared_too() -> None:
    """`doctor` may have been started with other settings."""
    said = compared([SERVICE], indexing=1, own={**OWN, "blobs": "s3://another"})
    assert said == ["Here the original files are at s3://another, for the service at s3://bucket."]


def test_addresses_are_shown_without_secrets() -> None:
    """Neither user nor password nor options."""
    shown = without_secrets("postgresql://rag:secret@db:5432/rag?sslpassword=x")
    assert shown == "postgresql://db:5432/rag"


def test_what_follows_from_a_shared_storage() -> None:
    """PostgreSQL can be everything; Redis needs vectors elsewhere."""
    url = "postgresql://db/rag"
    assert Addresses(url).completed() == Addresses(url, url, url)
    redis = Addresses("redis://db", vectors="qdrant+http://v").completed()
    assert redis == Addresses("redis://db", "redis://db", "qdrant+http://v")
    with pytest.raises(ConfigurationError, match="shared vector store"):
        Addresses("redis://db").completed()
    with pytest.raises(ConfigurationError, match="shared vector store"):
        Addresses("redis://db", vectors="embedded:///x").completed()
    assert Addresses().completed() == Addresses()
