"""Storage in the memory of one process: for tests and the simulation.

Every call is one step of the event loop, so it is atomic by construction.
"""

from agentscope.app.storage.memory.store import InMemoryStorage

__all__ = ["InMemoryStorage"]
