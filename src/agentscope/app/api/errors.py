"""From errors to HTTP answers: one table, one shape, JSON always.

`detail` is a sentence, or the list of problems of a request that is not well-formed; `code` is
stable. Text that goes out holds no class names, paths or secrets; the log has the rest.
"""

import logging
from collections.abc import Iterable, Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from agentscope import errors
from agentscope.app.api.responses import json_response

logger = logging.getLogger(__name__)

STATUS_OF: Mapping[type[errors.AgentScopeError], int] = {
    errors.AgentScopeError: 500,
    errors.NotFoundError: 404,
    errors.KnowledgeBaseError: 409,
    errors.KnowledgeBaseNotFoundError: 404,
    errors.DimensionPolicyError: 409,
    errors.CollectionNotFoundError: 503,
    errors.ConflictError: 409,
    errors.InvalidInputError: 422,
    errors.UnsupportedMediaTypeError: 415,
    errors.TooLargeError: 413,
    errors.UnknownProviderError: 400,
    errors.QuotaExceededError: 429,
    # Waiting frees no room, and what repeats requests by itself on 429 must not go on.
    errors.StorageQuotaExceededError: 403,
    errors.AuthenticationError: 401,
    errors.PermissionDeniedError: 403,
    errors.ParseError: 422,
    errors.ToolError: 422,
    errors.UpstreamError: 502,
    errors.StorageError: 503,
    errors.BusError: 503,
    errors.BlobStoreError: 503,
    errors.VectorStoreError: 503,
    errors.EmbeddingTimeoutError: 504,
    errors.ConfigurationError: 503,
}
"""Classes that are not here answer like their nearest parent that is."""

_CODE_OF_STATUS = {
    400: "bad_request",
    401: "unauthenticated",
    403: "permission_denied",
    404: "not_found",
    405: "method_not_allowed",
    413: "too_large",
    415: "unsupported_media_type",
    422: "invalid_input",
    500: "internal_error",
}
_SHOWN_INPUT_CHARS = 200
_MAX_PROBLEMS = 50
INTERNAL = "Something went wrong on our side. It was logged."


def status_of(error: errors.AgentScopeError) -> int:
    """Return the status for an error, by the nearest class in the table."""
    return next(STATUS_OF[kind] for kind in type(error).__mro__ if kind in STATUS_OF)


def problem(
    status: int,
    detail: Any,
    code: str | None = None,
    headers: Mapping[str, str] | None = None,
    *,
    details: Mapping[str, Any] | None = None,
) -> Response:
    """Return an error answer."""
    body = {"detail": detail, "code": code or _CODE_OF_STATUS.get(status, "error")}
    if details:
        body["details"] = dict(details)
    return json_response(body, status, headers=headers)


def answer(error: errors.AgentScopeError) -> Response:
    """Return the answer for one of our errors."""
    status, headers = status_of(error), {}
    details = error.details if isinstance(error, errors.QuotaExceededError) else None
    if isinstance(error, errors.QuotaExceededError) and status == 429:
        headers["Retry-After"] = str(error.retry_after_seconds)
    if isinstance(error, errors.UpstreamError) and error.retry_after_seconds is not None:
        headers["Retry-After"] = str(max(1, round(error.retry_after_seconds)))
    detail = INTERNAL if status == 500 else safe_text(error.message)
    return problem(status, detail, error.code, headers, details=details)


def validation_problem(raw: Iterable[Any], *, prefix: tuple[str, ...] = ()) -> Response:
    """Return the 422 answer of a request that is not well-formed, in the documented shape."""
    return problem(422, [_plain(item, prefix) for item in list(raw)[:_MAX_PROBLEMS]])


def invalid_payload(exc: ValidationError) -> Response:
    """Return the answer for a credential that does not fit; its secrets are left out."""
    found = exc.errors(include_url=False, include_input=False, include_context=False)
    return validation_problem(found, prefix=("body", "data"))


def _plain(item: Mapping[str, Any], prefix: tuple[str, ...]) -> dict[str, Any]:
    """Copy a problem; the input is shortened, so that a request cannot make its answer huge."""
    shown = {
        "type": item["type"],
        "loc": [*prefix, *(_place(part) for part in item.get("loc", ()))],
        "msg": safe_text(str(item["msg"])),
        "input": _shortened(item.get("input")),
    }
    if item.get("ctx"):
        shown["ctx"] = {
            key: value if isinstance(value, int | float) else safe_text(str(value))
            for key, value in item["ctx"].items()
        }
    return shown


def _place(part: object) -> str | int:
    return part if isinstance(part, int) else safe_text(str(part))


def _shortened(value: Any, depth: int = 0) -> Any:
    if isinstance(value, str):
        return safe_text(value)
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**63 else safe_text(str(value)[:_SHOWN_INPUT_CHARS])
    if isinstance(value, float):
        return value if value - value == 0 else str(value)
    if depth < 3 and isinstance(value, Mapping):
        items = list(value.items())[:20]
        return {safe_text(str(key)): _shortened(item, depth + 1) for key, item in items}
    if depth < 3 and isinstance(value, list | tuple):
        return [_shortened(item, depth + 1) for item in value[:20]]
    return "…"


def safe_text(text: str) -> str:
    """Return text that can be encoded, and is not longer than an answer should be."""
    cleaned = text.encode("utf-8", "replace").decode("utf-8")
    return cleaned if len(cleaned) <= 2000 else cleaned[:2000] + "…"


def install(app: FastAPI) -> None:
    """Give the app its error answers."""

    @app.exception_handler(errors.AgentScopeError)
    async def on_error(request: Request, exc: errors.AgentScopeError) -> Response:
        # A client that goes on uploading into a full quota must not fill the audit log with it.
        request.state.audited = not isinstance(exc, errors.StorageQuotaExceededError)
        if status_of(exc) >= 500:
            _log(request, exc, exc.code, exc.context)
        return answer(exc)

    @app.exception_handler(RequestValidationError)
    async def on_invalid(request: Request, exc: RequestValidationError) -> Response:
        del request
        return validation_problem(exc.errors())

    @app.exception_handler(HTTPException)
    async def on_http(request: Request, exc: HTTPException) -> Response:
        del request
        return problem(exc.status_code, exc.detail, headers=exc.headers)

    @app.exception_handler(NotImplementedError)
    async def on_missing_capability(request: Request, exc: NotImplementedError) -> Response:
        del request, exc
        detail = "The configured vector store does not support chunk listing."
        return problem(501, detail, "not_supported")

    @app.exception_handler(ClientDisconnect)
    async def on_disconnect(request: Request, exc: ClientDisconnect) -> Response:
        # Nobody is there to read it; the framework still wants an answer.
        del request, exc
        return problem(400, "The client closed the connection.", "client_disconnected")


def unexpected(path: str, method: str, exc: Exception) -> Response:
    """Log an exception nobody foresaw and return the answer for it."""
    logger.error("request_failed", extra={"path": path, "method": method}, exc_info=exc)
    return problem(500, INTERNAL)


def _log(request: Request, exc: BaseException, code: str, context: Mapping[str, object]) -> None:
    fields = {
        "path": request.url.path,
        "method": request.method,
        "error_code": code,
        "error_context": dict(context),
    }
    logger.error("request_failed", extra=fields, exc_info=exc)
