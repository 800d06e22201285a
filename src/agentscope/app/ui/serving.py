"""The built web app as routes: one per file, so that an unknown path is still the API's 404.

Files were compressed when they were built. Names in `assets/` carry a hash of the content, so a
browser may keep them for ever; the index is asked for again each time.
"""

import mimetypes
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import BaseRoute, Route

DIST = Path(__file__).with_name("dist")

_POLICY = (
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "worker-src 'self' blob:; frame-src 'self' blob:; connect-src {connect}; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'"
)
HEADERS = {
    "Content-Security-Policy": _POLICY.format(connect="'self'"),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
}
_FOR_EVER = "public, max-age=31536000, immutable"
_ASK_AGAIN = "no-cache"
_A_DAY = "public, max-age=86400"

_TYPES = {".js": "text/javascript", ".mjs": "text/javascript", ".bcmap": "application/octet-stream"}

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>AgentScope RAG</title>
</head>
<body>
<main>
<h1>AgentScope RAG is running</h1>
<p>The web app was not built into this installation. The REST API is here:
<a href="docs">interactive documentation</a>, <a href="openapi.json">OpenAPI document</a>,
<a href="health">health</a>.</p>
</main>
</body>
</html>
"""


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    media_type: str
    cache: str
    compressed: Path | None


def ui_routes(dist: Path = DIST, *, provider: str | None = None) -> list[BaseRoute]:
    """Return the routes of the built app in `dist`, or of the small page if it was not built.

    The app may also talk to `provider`, the address of an OpenID provider.
    """
    if not (dist / "index.html").is_file():
        return [Route("/", _small_page, include_in_schema=False)]
    known = {
        path.relative_to(dist).as_posix(): _described(path, dist)
        for path in sorted(dist.rglob("*"))
        if path.is_file() and path.suffix != ".gz"
    }
    folders = sorted({name.rpartition("/")[0] for name in known if "/" in name})
    top = [name for name in known if "/" not in name]
    policy = _POLICY.format(connect=f"'self' {_origin(provider)}".rstrip())

    async def send(request: Request) -> Response:
        name = request.scope["path"].removeprefix(request.scope.get("root_path", "")).lstrip("/")
        found = known.get(name or "index.html")
        if found is None:
            return Response(status_code=404)
        return _sent(request, found, policy)

    routes: list[BaseRoute] = [Route("/", send, include_in_schema=False)]
    routes += [Route(f"/{name}", send, include_in_schema=False) for name in top]
    routes += [Route(f"/{name}/{{file}}", send, include_in_schema=False) for name in folders]
    return routes


async def _small_page(request: Request) -> Response:
    del request
    return HTMLResponse(_PAGE, headers={**HEADERS, "Cache-Control": _ASK_AGAIN})


def _origin(address: str | None) -> str:
    parts = urlsplit(address or "")
    known = parts.scheme in ("http", "https") and re.fullmatch(r"[\w.:\[\]-]+", parts.netloc)
    return f"{parts.scheme}://{parts.netloc}" if known else ""


def _described(path: Path, dist: Path) -> _File:
    media_type = _TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0]
    if path.name == "index.html":
        cache = _ASK_AGAIN
    elif path.parent == dist / "assets":
        cache = _FOR_EVER
    else:
        cache = _A_DAY
    compressed = path.with_name(path.name + ".gz")
    return _File(
        path,
        media_type or "application/octet-stream",
        cache,
        compressed if compressed.is_file() else None,
    )


def _sent(request: Request, file: _File, policy: str) -> Response:
    headers = {
        **HEADERS,
        "Content-Security-Policy": policy,
        "Cache-Control": file.cache,
        "Vary": "Accept-Encoding",
    }
    accepted = request.headers.get("accept-encoding", "")
    if file.compressed is not None and "gzip" in accepted:
        headers["Content-Encoding"] = "gzip"
        return FileResponse(file.compressed, headers=headers, media_type=file.media_type)
    return FileResponse(file.path, headers=headers, media_type=file.media_type)
