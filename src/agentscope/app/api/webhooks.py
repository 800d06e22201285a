"""Routes of webhooks: the caller's own, for those who may administer."""

from typing import Annotated, Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field, StringConstraints

from agentscope.app.api.deps import AdminDep, parts_of
from agentscope.app.api.responses import json_response, no_content
from agentscope.app.auth.base import Caller
from agentscope.app.rag.service.webhooks import Webhook, Webhooks, WebhookWish
from agentscope.errors import KnowledgeBaseNotFoundError, NotFoundError, PermissionDeniedError

router = APIRouter(prefix="/webhooks", tags=["webhooks"])

MAX_SEQUENCE = 2**63 - 1
Url = Annotated[str, StringConstraints(min_length=8, max_length=2000)]
EventType = Annotated[
    str, StringConstraints(pattern=r"^(document|knowledge_base)(\.[a-z_]{1,40})?$", max_length=60)
]
IdText = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class CreateWebhookRequest(BaseModel):
    """Where to send; `event_types` may name kinds (`document`) or types (`document.ready`)."""

    url: Url
    event_types: list[EventType] = Field(default_factory=list, max_length=50)
    knowledge_base_id: IdText | None = None
    enabled: bool = True


class UpdateWebhookRequest(BaseModel):
    """What to change; absent fields stay."""

    url: Url | None = None
    event_types: list[EventType] | None = Field(default=None, max_length=50)
    enabled: bool | None = None


class ReplayRequest(BaseModel):
    """From where to send again: every kept event with a greater sequence."""

    after: int = Field(ge=0, le=MAX_SEQUENCE)


class WebhookView(BaseModel):
    """A webhook and how far its delivery is; `failures` counts those in a row."""

    id: str
    url: str
    event_types: list[str]
    knowledge_base_id: str | None
    enabled: bool
    created_at: str
    sequence: int
    failures: int
    last_error: str | None
    next_try_at: str | None
    delivered_at: str | None


class NewWebhookView(WebhookView):
    """A new webhook; `secret` is shown this once."""

    secret: str


class ListWebhooksResponse(BaseModel):
    """The caller's webhooks, oldest first."""

    webhooks: list[WebhookView]
    total: int


@router.post("/", status_code=201, response_model=NewWebhookView)
async def post_webhook(request: Request, caller: AdminDep, body: CreateWebhookRequest) -> Response:
    """Send the caller's events from now on to a URL."""
    hooks = parts_of(request).webhooks
    await _check_base(hooks, caller, body.knowledge_base_id)
    await hooks.check(body.url)
    wish = WebhookWish(body.url, body.event_types, body.knowledge_base_id, body.enabled)
    webhook, secret = await hooks.create(caller.user_id, wish)
    return json_response({**await _view(hooks, webhook), "secret": secret}, 201)


@router.get("/", response_model=ListWebhooksResponse)
async def get_webhooks(request: Request, caller: AdminDep) -> Response:
    """List the caller's webhooks."""
    hooks = parts_of(request).webhooks
    found = [hook for hook in await hooks.list(caller.user_id) if _reaches(caller, hook)]
    views = [await _view(hooks, webhook) for webhook in found]
    return json_response({"webhooks": views, "total": len(views)})


@router.get("/{webhook_id}", response_model=WebhookView)
async def get_webhook(request: Request, caller: AdminDep, webhook_id: str) -> Response:
    """Return one webhook with the state of its delivery."""
    hooks = parts_of(request).webhooks
    return json_response(await _view(hooks, await _opened(hooks, caller, webhook_id)))


@router.patch("/{webhook_id}", response_model=WebhookView)
async def patch_webhook(
    request: Request, caller: AdminDep, webhook_id: str, body: UpdateWebhookRequest
) -> Response:
    """Change where and what is sent; a webhook that was off goes on where it stopped."""
    hooks = parts_of(request).webhooks
    await _opened(hooks, caller, webhook_id)
    changes: dict[str, Any] = body.model_dump(exclude_none=True)
    if body.url is not None:
        await hooks.check(body.url)
    if body.event_types is not None:
        changes["event_types"] = tuple(body.event_types)
    return json_response(
        await _view(hooks, await hooks.change(caller.user_id, webhook_id, changes))
    )


@router.post("/{webhook_id}/replay", response_model=WebhookView)
async def post_replay(
    request: Request, caller: AdminDep, webhook_id: str, body: ReplayRequest
) -> Response:
    """Send every event after a sequence again, with the ids it had, and end a pause."""
    hooks = parts_of(request).webhooks
    await _opened(hooks, caller, webhook_id)
    webhook = await hooks.replay(caller.user_id, webhook_id, body.after)
    return json_response(await _view(hooks, webhook))


@router.delete("/{webhook_id}", status_code=204, response_class=Response)
async def remove_webhook(request: Request, caller: AdminDep, webhook_id: str) -> Response:
    """Forget a webhook."""
    hooks = parts_of(request).webhooks
    await _opened(hooks, caller, webhook_id)
    await hooks.remove(caller.user_id, webhook_id)
    return no_content()


async def _check_base(hooks: Webhooks, caller: Caller, knowledge_base_id: str | None) -> None:
    """Let pass what the caller owns and its key reaches."""
    reached = caller.knowledge_bases
    if knowledge_base_id is None:
        if reached is not None:
            raise PermissionDeniedError("This key needs a webhook for one of its knowledge bases.")
        return
    within = reached is None or knowledge_base_id in reached
    storage = hooks.storage.knowledge_bases
    if not within or await storage.get(caller.user_id, knowledge_base_id) is None:
        raise KnowledgeBaseNotFoundError(f"Knowledge Base '{knowledge_base_id}' not found.")


def _reaches(caller: Caller, webhook: Webhook) -> bool:
    reached = caller.knowledge_bases
    return reached is None or webhook.knowledge_base_id in reached


async def _opened(hooks: Webhooks, caller: Caller, webhook_id: str) -> Webhook:
    webhook = await hooks.get(caller.user_id, webhook_id)
    if not _reaches(caller, webhook):
        raise NotFoundError(f"Webhook '{webhook_id[:60]}' not found.")
    return webhook


async def _view(hooks: Webhooks, webhook: Webhook) -> dict[str, Any]:
    state = await hooks.state(webhook)
    return {
        "id": webhook.id,
        "url": webhook.url,
        "event_types": list(webhook.event_types),
        "knowledge_base_id": webhook.knowledge_base_id,
        "enabled": webhook.enabled,
        "created_at": webhook.created_at,
        "sequence": state.sequence,
        "failures": state.failures,
        "last_error": state.last_error or None,
        "next_try_at": state.not_before or None,
        "delivered_at": state.delivered_at or None,
    }
