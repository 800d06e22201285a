"""A large upload adds little memory to the API, wherever originals are kept."""

import pytest
from benchmarks.bench_upload_memory import LIMIT_MIB, measure


@pytest.mark.server
@pytest.mark.parametrize("target", ["local", "rclone"])
def test_a_large_upload_adds_little_memory(target: str) -> None:
    """Three times the bound streams through the real API, and comes back as it was."""
    figures = measure(target, 3 * LIMIT_MIB)
    assert figures["added_at_peak_mib"] < LIMIT_MIB, figures
    assert figures["same_bytes_back"]
