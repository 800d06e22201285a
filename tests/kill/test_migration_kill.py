"""Workers are killed while a model is changed: no search fails, and the change comes to its end."""

import pytest
from benchmarks.bench_migration import measure


@pytest.mark.kill
@pytest.mark.server
def test_kill_nine_in_the_middle_of_a_migration_is_seen_by_no_search() -> None:
    """The benchmark in small: searches all the time, uploads, deletions, and dead workers."""
    figures = measure(60, calm_seconds=1.0, workers=1)
    assert figures["failed_searches"] == 0, figures["failures"]
    assert figures["empty_searches"] == 0
    assert figures["missed_documents"] == 0
    assert figures["searches"]["during"]["searches"] > 0
    assert figures["model_after"] == "text-embedding-3-large"
    assert figures["audit"]["clean"], figures["audit"]
