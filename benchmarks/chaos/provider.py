"""An OpenAI-compatible embeddings endpoint that misbehaves on request.

Vectors are a hash of the words, so that a text finds itself. `POST /faults` takes
`{"mode": "ok" | "429" | "500" | "hang", "seconds": 0.0}`; it is a process of its own:
`python -m benchmarks.chaos.provider --port P`.
"""

import argparse
import asyncio
import hashlib
import json
import math
from typing import Any

DIMENSIONS = 64
HANG_SECONDS = 3600


def vector(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    """Return a unit vector made of the words of `text`."""
    values = [0.0] * dimensions
    for word in text.lower().split():
        digest = hashlib.blake2b(word.encode(), digest_size=8).digest()
        values[digest[0] % dimensions] += 1.0 if digest[1] & 1 else -1.0
    norm = math.sqrt(sum(value * value for value in values)) or 1.0
    return [value / norm for value in values]


class Provider:
    """The endpoint with its present mood."""

    def __init__(self) -> None:
        self.mode = "ok"
        self.seconds = 0.0
        self.embedded = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lines = head.decode("latin-1").split("\r\n")
                length = next(
                    (int(x.split(":")[1]) for x in lines if x.lower().startswith("content-length")),
                    0,
                )
                body = json.loads(await reader.readexactly(length)) if length else {}
                status, answer = await self.answer(lines[0].split(" ")[1], body)
                data = json.dumps(answer).encode()
                extra = "retry-after: 1\r\n" if status == 429 else ""
                writer.write(
                    f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n{extra}"
                    f"content-length: {len(data)}\r\n\r\n".encode()
                    + data
                )
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def answer(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Return status and body for one request."""
        if path == "/faults":
            self.mode = body.get("mode", self.mode)
            self.seconds = body.get("seconds", self.seconds)
            return 200, {"mode": self.mode, "embedded": self.embedded}
        await asyncio.sleep(self.seconds)
        if self.mode == "hang":
            await asyncio.sleep(HANG_SECONDS)
        if self.mode in ("429", "500"):
            return int(self.mode), {"error": {"message": "not now"}}
        inputs = body["input"] if isinstance(body["input"], list) else [body["input"]]
        self.embedded += len(inputs)
        size = body.get("dimensions", DIMENSIONS)
        data = [{"index": i, "embedding": vector(text, size)} for i, text in enumerate(inputs)]
        return 200, {"data": data, "usage": {"prompt_tokens": len(inputs)}}


async def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    port = parser.parse_args().port
    server = await asyncio.start_server(Provider().serve, "127.0.0.1", port, limit=2**24)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
