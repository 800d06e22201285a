"""Workspaces in a local directory: accepted as documented, used by nothing here."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agentscope.app.workspace_manager.base import IsolationPolicy, WorkspaceManagerBase


class LocalWorkspaceManager(WorkspaceManagerBase):
    """Keeps its arguments and makes no directory before something asks for one."""

    def __init__(
        self,
        basedir: str | Path,
        *,
        isolation: IsolationPolicy | str = IsolationPolicy.PER_AGENT,
        default_mcps: Sequence[Any] | None = None,
        skill_paths: Sequence[str] | None = None,
        ttl: float = 3600.0,
    ) -> None:
        self.basedir = Path(basedir)
        self.isolation = isolation
        self.default_mcps = list(default_mcps or ())
        self.skill_paths = list(skill_paths or ())
        self.ttl = ttl
        self.storage: Any = None

    async def aclose(self) -> None:
        self.storage = None
