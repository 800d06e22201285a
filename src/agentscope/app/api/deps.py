"""What routes are given: the caller and the service behind them."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Header, Request
from fastapi.exceptions import RequestValidationError

from agentscope.app.api.rates import Rates
from agentscope.app.auth.base import Caller, IdentityBase
from agentscope.app.auth.permissions import Capability, includes
from agentscope.app.rag.service.parts import CredentialParts, KnowledgeBaseService
from agentscope.app.running import RunningParts
from agentscope.errors import (
    AuthenticationError,
    ConfigurationError,
    KnowledgeBaseNotFoundError,
    PermissionDeniedError,
)


@dataclass(slots=True)
class AppState:
    """What the application object carries; `parts` are there while it runs."""

    identity: IdentityBase
    rates: Rates
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
        RateLimitedError: the caller asks too often.
    """
    del x_user_id  # stands here for the OpenAPI document; the identity reads the headers itself
    caller = await identified(request)
    if caller is not None:
        request.state.caller = caller  # for the audit log, which stands around the routes
        await state_of(request).rates.request(caller.user_id)
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


def check_reach(caller: Caller, request: Request) -> None:
    """Answer as for an unknown knowledge base if the caller's key does not reach it.

    Raises:
        KnowledgeBaseNotFoundError: the key is for other knowledge bases.
    """
    wanted = request.path_params.get("knowledge_base_id")
    if wanted is not None:
        check_reach_of(caller, [wanted])


def check_reach_of(caller: Caller, knowledge_base_ids: Sequence[str]) -> None:
    """Do the same for ids that are not in the path."""
    reached = caller.knowledge_bases
    for wanted in knowledge_base_ids:
        if reached is not None and wanted not in reached:
            raise KnowledgeBaseNotFoundError(f"Knowledge Base '{wanted[:200]}' not found.")


def allowed(needed: Capability) -> Callable[[Request, Caller], Caller]:
    """Return a dependency that lets callers pass who hold a capability."""

    def caller_with(request: Request, caller: Annotated[Caller, Depends(current_caller)]) -> Caller:
        check_reach(caller, request)
        if not includes(caller.capability, needed):
            raise PermissionDeniedError(f"This needs a key with the capability '{needed}'.")
        return caller

    return caller_with


async def searching(
    request: Request, caller: Annotated[Caller, Depends(allowed(Capability.READ))]
) -> AsyncIterator[Caller]:
    """Let a caller search while there is a place for it.

    Raises:
        QuotaExceededError: the caller searches too often or too much at once.
    """
    async with state_of(request).rates.search(caller.user_id):
        yield caller


def for_the_whole(caller: Annotated[Caller, Depends(allowed(Capability.ADMIN))]) -> Caller:
    """Let callers pass whose key is for all knowledge bases: what follows is beyond any one.

    A key for a few that could make keys, or point a credential elsewhere, would be one for all.
    """
    if caller.knowledge_bases is not None:
        raise PermissionDeniedError("This needs a key for all knowledge bases.")
    return caller


CallerDep = Annotated[Caller, Depends(allowed(Capability.READ))]
WriterDep = Annotated[Caller, Depends(allowed(Capability.WRITE))]
AdminDep = Annotated[Caller, Depends(allowed(Capability.ADMIN))]
WholeAdminDep = Annotated[Caller, Depends(for_the_whole)]
SearcherDep = Annotated[Caller, Depends(searching)]
ServiceDep = Annotated[KnowledgeBaseService, Depends(current_service)]
CredentialsDep = Annotated[CredentialParts, Depends(current_credentials)]
