"""The OpenAPI document: made by the framework, completed with what raw routes cannot tell it."""

from typing import Any

from fastapi import FastAPI

from agentscope.app.api.schemas.wire import ErrorBody
from agentscope.app.auth.base import IdentityBase

ERRORS: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": ErrorBody, "description": "The request was refused; `code` says why."},
    "5XX": {"model": ErrorBody, "description": "The service or what it depends on failed."},
}


def install(app: FastAPI, identity: IdentityBase) -> None:
    """Make `app.openapi()` complete: which header is required, and which schemes prove identity."""
    original = app.openapi

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = original()
            for path, method, operation in _operations(schema):
                _identity(operation, identity, path=path, method=method)
                _validation_errors(operation)
            schemes = identity.describe()
            if schemes:
                schema.setdefault("components", {})["securitySchemes"] = dict(schemes)
            app.openapi_schema = schema
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]  # the documented way to extend it


def _operations(schema: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (path, method, operation)
        for path, operations in schema["paths"].items()
        for method, operation in operations.items()
    ]


def _identity(operation: dict[str, Any], identity: IdentityBase, *, path: str, method: str) -> None:
    """State whether the identity header is needed; a download may carry a token instead."""
    named = [p for p in operation.get("parameters", ()) if p["in"] == "header"]
    for parameter in named:
        if identity.header.lower() != parameter["name"].lower():
            operation["parameters"].remove(parameter)
            operation["security"] = [{name: []} for name in identity.describe()]
            continue
        by_token = method == "get" and path.endswith("/documents/{document_id}")
        parameter["required"] = not by_token
        parameter["schema"] = {"type": "string", "minLength": 1, "maxLength": 256}


def _validation_errors(operation: dict[str, Any]) -> None:
    """A request that is not well-formed gets the same body as any other error."""
    body = {"$ref": "#/components/schemas/ErrorBody"}
    responses = operation.get("responses", {})
    if "422" in responses:
        responses["422"]["content"] = {"application/json": {"schema": body}}
