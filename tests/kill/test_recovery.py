"""Work goes on by itself after a stop, a kill and an outage: real processes, short leases."""

import pytest
from benchmarks.bench_recovery import measure

SLACK_SECONDS = 20  # a machine that tests on may be loaded


@pytest.mark.kill
@pytest.mark.server
@pytest.mark.slow
async def test_a_stop_a_kill_and_an_outage_need_no_operator() -> None:
    """Handed back after the drain, taken up after the lease, done after the outage."""
    found = await measure("redis", outage_seconds=3.0)
    stop, kill, outage = found["sigterm"], found["sigkill"], found["outage"]
    assert stop["exit_code"] == 0
    assert stop["handed_back_after_drain_seconds"] < 1 + SLACK_SECONDS
    lease_and_look = kill["lease_seconds"] + 1.25 * kill["poll_seconds"]
    assert kill["taken_up_after_seconds"] < lease_and_look + SLACK_SECONDS
    assert outage["processes_ended"] == 0
