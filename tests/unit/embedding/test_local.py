"""The local model: what its child processes must survive."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
from contextlib import suppress
from pathlib import Path

import pytest

from agentscope.embedding.local import LocalEmbeddingModel
from agentscope.embedding.local_supervisor import EncoderSupervisor, units_of
from agentscope.errors import ConfigurationError, EmbeddingError, EmbeddingTimeoutError


def test_units_are_bounded_and_lose_nothing() -> None:
    """Texts are cut into units in order; one long text is a unit of its own."""
    texts = ["a" * 100] * 40 + ["b" * 9000] + ["c"]
    units = units_of(texts)
    assert [text for unit in units for text in unit] == texts
    assert all(len(unit) <= 16 for unit in units)
    assert all(sum(map(len, unit)) <= 2400 or len(unit) == 1 for unit in units)


async def test_nothing_is_started_before_the_first_call() -> None:
    """An unused model costs no process."""
    async with LocalEmbeddingModel() as model:
        assert model.process_ids == []
        assert (await model([])).embeddings == []
        assert model.process_ids == []


async def test_meaning_crosses_languages_and_death_of_the_child_is_invisible() -> None:
    """A killed child is replaced while a call runs; queries overtake a long call; no stall."""
    async with LocalEmbeddingModel() as model:
        english, chinese, other = (
            await model(["How do I cancel my order?", "如何取消我的订单？", "The cat eats fish."])
        ).embeddings
        near = sum(a * b for a, b in zip(english, chinese, strict=True))
        far = sum(a * b for a, b in zip(english, other, strict=True))
        assert near > far + 0.3
        blank = (await model(["  "])).embeddings[0]
        assert not any(blank)

        long_call = asyncio.create_task(model([f"{i} lorem ipsum " * 100 for i in range(60)]))
        gaps: list[float] = []
        ticker = asyncio.create_task(_tick(gaps))
        await model(["a query"])
        assert not long_call.done()
        (first,) = model.process_ids
        os.kill(first, signal.SIGKILL)
        assert len((await long_call).embeddings) == 60
        ticker.cancel()
        (second,) = model.process_ids
        assert second != first
        assert max(gaps) < 5  # a loop that waited for the dying child would stand still longer

        fingerprint = await model.fingerprint()
        assert fingerprint.version == "0.2.1"
        assert len(fingerprint.sample) == 8
    assert not Path(f"/proc/{second}").exists()


async def test_a_silent_child_is_replaced_and_work_that_is_never_done_fails_as_a_timeout() -> None:
    """A stopped child is replaced unseen; work that two children keep fails as retryable."""
    supervisor = EncoderSupervisor(unit_timeout_seconds=3)

    async def stop_every_child() -> None:
        while True:
            for pid in supervisor.process_ids:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGSTOP)
            await asyncio.sleep(0.001)

    try:
        await supervisor.encode(["warm"])
        (stopped,) = supervisor.process_ids
        os.kill(stopped, signal.SIGSTOP)
        assert len(await supervisor.encode(["hello"])) == 1
        assert stopped not in supervisor.process_ids
        stopping = asyncio.create_task(stop_every_child())
        with pytest.raises(EmbeddingTimeoutError) as caught:
            await supervisor.encode(["never " * 3000])
        assert caught.value.retryable
        stopping.cancel()
    finally:
        await supervisor.aclose()


async def test_a_closed_model_refuses_calls_as_retryable() -> None:
    """Calls in flight and later ones fail plainly instead of waiting for ever."""
    model = LocalEmbeddingModel()
    call = asyncio.create_task(model(["text"]))
    await asyncio.sleep(0)
    await model.aclose()
    with pytest.raises(EmbeddingError):
        await call
    with pytest.raises(EmbeddingError):
        await model(["text"])


def test_other_names_and_dimensions_are_refused() -> None:
    """The model cannot make vectors of another length."""
    with pytest.raises(ConfigurationError):
        LocalEmbeddingModel(dimensions=256)
    with pytest.raises(ConfigurationError):
        LocalEmbeddingModel(model="other")


@pytest.mark.kill
def test_the_child_dies_with_a_killed_parent() -> None:
    """SIGKILL of the service leaves no encoder behind."""
    script = textwrap.dedent(
        """
        import asyncio, os
        from agentscope.embedding.local import LocalEmbeddingModel
        async def main():
            model = LocalEmbeddingModel()
            await model(["hello"])
            print(model.process_ids[0], flush=True)
            os.kill(os.getpid(), 9)
        asyncio.run(main())
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", script], check=False, capture_output=True, text=True, timeout=60
    )
    child = int(done.stdout)
    assert _gone(child)


def _gone(pid: int) -> bool:
    for _ in range(200):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        signal.sigtimedwait([], 0.02)
    return False


async def _tick(gaps: list[float]) -> None:
    loop = asyncio.get_running_loop()
    while True:
        before = loop.time()
        await asyncio.sleep(0.01)
        gaps.append(loop.time() - before - 0.01)
