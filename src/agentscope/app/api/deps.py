"""What routes are given: the caller and the service behind them."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Header, Request
from fastapi.exceptions import RequestValidationError

from agentscope.app.auth.base import Caller, IdentityBase
from agentscope.app.rag.service.parts import CredentialParts, KnowledgeBaseService
from agentscope.app.running import RunningParts
from agentscope.errors import AuthenticationError, ConfigurationError


@dataclass(slots=True)
class AppState:
    """What the application object carries; `parts` are there while it runs."""

    identity: IdentityBase
    parts: RunningParts | None = None


def state_of(request: Request) -> AppState:
    """Return the state of the application that serves the request."""
    found: AppState = request.app.state.agentscope
    return found


def parts_of(request: Request) -> RunningParts:
    """Return the running parts of the application that serves the request.

    Raises:
        ConfigurationError: the application was mounted without running its lifespan.
    """
    parts = state_of(request).parts
    if parts is None:
        raise ConfigurationError("The service was not started.")
    return parts


async def identified(request: Request) -> Caller | None:
    """Return the caller, or None if the request carries no identity.

    Raises:
        AuthenticationError: what it carries is not valid.
    """
    identity = state_of(request).identity
    if len(request.headers.getlist(identity.header)) > 1:
        raise AuthenticationError(f"The {identity.header} header was sent more than once.")
    return await identity.identify(request.headers)


async def current_caller(
    request: Request,
    x_user_id: Annotated[str | None, Header(description="The tenant of the request.")] = None,
) -> Caller:
    """Return the caller.

    Raises:
        RequestValidationError: the documented header is absent.
        AuthenticationError: there is no valid identity.
    """
    del x_user_id  # stands here for the OpenAPI document; the identity reads the headers itself
    caller = await identified(request)
    if caller is not None:
        return caller
    identity = state_of(request).identity
    if identity.required_header:
        raise missing_header(identity.header)
    raise AuthenticationError("Authentication is required.")


def missing_header(name: str) -> RequestValidationError:
    """Return the documented problem of a request without its identity header."""
    place = ("header", name.lower())
    return RequestValidationError(
        [{"type": "missing", "loc": place, "msg": "Field required", "input": None}]
    )


def current_service(request: Request) -> KnowledgeBaseService:
    """Return the service; its routes exist only if there is one."""
    service = parts_of(request).service
    assert service is not None, "knowledge base routes are registered with a service only"
    return service


def current_credentials(request: Request) -> CredentialParts:
    """Return what the credential verbs work with."""
    return parts_of(request).credentials


CallerDep = Annotated[Caller, Depends(current_caller)]
ServiceDep = Annotated[KnowledgeBaseService, Depends(current_service)]
CredentialsDep = Annotated[CredentialParts, Depends(current_credentials)]
