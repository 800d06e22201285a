"""An upload beyond what is allowed stops early over a real socket and leaves nothing."""

import pytest
from benchmarks.bench_upload_limits import measure


@pytest.mark.server
def test_an_upload_beyond_the_limit_is_stopped_by_the_served_product() -> None:
    """By the limit of a file and by the quota, with and without a length; memory stays flat."""
    attempts, faults = measure(2_000_000, 64 * 1024 * 1024)
    assert faults == []
    assert [one.answer.status for one in attempts] == [413, 413, 403, 403]
