"""The pages that show the API; their scripts come with the package, never from elsewhere."""

from importlib.resources import files
from importlib.resources.abc import Traversable

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

_FILES = {
    "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
    "swagger-ui.css": "text/css; charset=utf-8",
}
_START = b"""window.addEventListener("load", () => {
  SwaggerUIBundle({
    url: document.getElementById("swagger-ui").dataset.openapi,
    dom_id: "#swagger-ui",
    deepLinking: true,
    persistAuthorization: true,
    validatorUrl: null,
  });
});
"""
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} - API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
<div id="swagger-ui" data-openapi="openapi.json"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
"""
_POLICY = (
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "object-src 'none'; frame-ancestors 'self'"
)


def install(app: FastAPI) -> None:
    """Add `/docs` with all it loads."""
    page = _PAGE.format(title=app.title)

    async def docs(request: Request) -> Response:
        del request
        return HTMLResponse(page, headers={"Content-Security-Policy": _POLICY})

    async def asset(request: Request) -> Response:
        name = request.path_params["name"]
        if name == "start.js":
            return _sent(_START, "text/javascript; charset=utf-8")
        if name not in _FILES:
            return Response(status_code=404)
        return _sent(_resource(name).read_bytes(), _FILES[name])

    app.add_route("/docs", docs, methods=["GET"], include_in_schema=False)
    app.add_route("/docs/{name}", asset, methods=["GET"], include_in_schema=False)


def _resource(name: str) -> Traversable:
    return files("fastapi_swagger") / "resources" / name


def _sent(content: bytes, media_type: str) -> Response:
    headers = {"Cache-Control": "public, max-age=86400", "X-Content-Type-Options": "nosniff"}
    return Response(content, media_type=media_type, headers=headers)
