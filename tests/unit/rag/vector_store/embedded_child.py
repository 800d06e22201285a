"""Writes points until it is killed; prints a line for every upsert that has returned."""

import asyncio
import sys

from agentscope.rag.vector_store.embedded import EmbeddedVectorStore
from agentscope.testing.vector_store_data import COLLECTION, DIMENSIONS, make_point, unit


async def main(directory: str) -> None:
    """Write documents of three chunks and delete every fourth."""
    async with EmbeddedVectorStore(directory) as store:
        await store.create_collection(COLLECTION, DIMENSIONS)
        number = 0
        while True:
            points = [make_point(f"d{number}", n, unit(1, number, n)) for n in range(3)]
            await store.upsert(COLLECTION, points)
            sys.stdout.write(f"stored {number}\n")
            sys.stdout.flush()
            if number % 4 == 3:
                await store.delete_document(COLLECTION, f"d{number}")
                sys.stdout.write(f"deleted {number}\n")
                sys.stdout.flush()
            number += 1


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
