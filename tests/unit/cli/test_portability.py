"""`export` and `import` on data directories, and the transport that keeps both sides streams."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner, Result

from agentscope.cli.entry import main
from agentscope.cli.in_process import MAX_WAITING, InProcessTransport


def run(*arguments: str | Path) -> Result:
    """Run a command."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_a_knowledge_base_moves_from_one_data_directory_to_another(tmp_path: Path) -> None:
    """Exported, checked, imported; a broken file is told of and harms nothing."""
    (tmp_path / "leave.txt").write_text("Annual leave is 25 days.")
    (tmp_path / "fire.txt").write_text("In case of fire use the stairs.")
    here = ("--data-dir", tmp_path / "here")
    there = ("--data-dir", tmp_path / "there")
    archive = tmp_path / "handbook.kb.tar"
    files = (tmp_path / "leave.txt", tmp_path / "fire.txt")
    assert run("ingest", *files, "--kb", "Handbook", *here).exit_code == 0
    done = run("export", "--kb", "Handbook", "--out", archive, *here)
    assert done.exit_code == 0, done.output
    assert done.output.startswith("Written to ")
    assert "documents: 2, chunks: 2." in done.output
    assert not list(tmp_path.glob("*.part"))
    again = run("export", "--kb", "Handbook", "--out", archive, *here)
    assert again.exit_code == 1
    assert "--force" in again.output
    made = run("import", archive, "--name", "Copy", *there)
    assert made.exit_code == 0, made.output
    assert "Made the knowledge base 'Copy'" in made.output
    assert "Documents: 2 with their vectors, 0 to be indexed, 0 there already." in made.output
    archive.write_bytes(archive.read_bytes()[:-3000])
    broken = run("import", archive, "--copy", *there)
    assert broken.exit_code == 1
    assert "send it again" in broken.output
    assert "Nothing is wrong." in run("audit", *there).output


PIECE = b"x" * 1000


class Application:
    """Answers with pieces without end, or breaks off after some."""

    def __init__(self, *, breaks_after: int | None = None) -> None:
        self.sent = 0
        self.ended = asyncio.Event()
        self._breaks_after = breaks_after

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        del scope
        try:
            while (await receive())["more_body"]:
                pass
            await send({"type": "http.response.start", "status": 200, "headers": []})
            while self.sent != self._breaks_after:
                await send({"type": "http.response.body", "body": PIECE, "more_body": True})
                self.sent += 1
            raise ConnectionError("broken off")
        finally:
            self.ended.set()


async def test_an_answer_waits_for_its_reader() -> None:
    """Only a few pieces are ahead, and a reader that stops stops the application."""
    application = Application()
    async with httpx.AsyncClient(
        transport=InProcessTransport(application), base_url="http://here"
    ) as client:
        async with client.stream("GET", "/") as answer:
            pieces = answer.aiter_raw()
            for _ in range(10):
                assert await anext(pieces) == PIECE
            await asyncio.sleep(0)
            assert 10 <= application.sent <= 11 + MAX_WAITING
        await asyncio.wait_for(application.ended.wait(), 10)


async def test_an_answer_that_is_cut_short_is_an_error() -> None:
    """It never looks like a complete one."""
    transport = InProcessTransport(Application(breaks_after=20))
    async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
        with pytest.raises(httpx.ReadError):
            await client.get("/")


async def test_a_request_is_sent_as_it_is_made() -> None:
    """Its pieces arrive one by one."""
    seen: list[bytes] = []

    async def application(scope: Any, receive: Any, send: Any) -> None:
        assert scope["query_string"] == b"a=1"
        while (message := await receive())["more_body"]:
            seen.append(message["body"])
        await send({"type": "http.response.start", "status": 201, "headers": []})
        await send({"type": "http.response.body", "body": b"done"})

    async def pieces() -> AsyncIterator[bytes]:
        for number in range(5):
            assert len(seen) >= number - 1
            yield str(number).encode()

    transport = InProcessTransport(application)
    async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
        answer = await client.post("/x", params={"a": 1}, content=pieces())
    assert (answer.status_code, answer.content) == (201, b"done")
    assert seen == [b"0", b"1", b"2", b"3", b"4"]
