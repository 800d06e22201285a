"""Health on the wire."""

from typing import Literal

from pydantic import BaseModel


class HealthResponse(BaseModel):
    """Whether the service and each of its parts can do its work now."""

    status: Literal["ok", "not_ready"]
    version: str
    components: dict[str, Literal["ok", "not_ready", "disabled"]]


class LiveResponse(BaseModel):
    """The process serves requests."""

    status: str
