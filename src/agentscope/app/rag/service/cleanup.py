"""Cleaning up after something that failed or was cancelled."""

import asyncio
import logging
from collections.abc import Awaitable
from typing import Any

from agentscope.errors import AgentScopeError

logger = logging.getLogger(__name__)


async def settled(cleanup: Awaitable[Any]) -> None:
    """Await a cleanup to its end, even if the caller is cancelled meanwhile; it may fail.

    What it leaves is found through the record it was about.
    """
    task = asyncio.ensure_future(cleanup)
    try:
        await asyncio.shield(task)
    except AgentScopeError as exc:
        logger.warning("cleanup_failed", extra={"error_code": exc.code})
