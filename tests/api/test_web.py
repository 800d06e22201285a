"""What browsers need: CORS, the web app's files, the API pages, both slash forms, host names."""

import gzip
from pathlib import Path

import pytest

from agentscope.app.ui.serving import ui_routes
from agentscope.testing.rest import RestService, memory_app

ORIGIN = "http://localhost:5173"


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
def test_a_known_origin_may_call(service: RestService, method: str) -> None:
    """Also before the call itself."""
    headers = {
        "Origin": ORIGIN,
        "Access-Control-Request-Method": method,
        "Access-Control-Request-Headers": "x-user-id, content-type",
    }
    answer = service.call("OPTIONS", "/knowledge_bases/", user=None, headers=headers)
    assert answer.status_code == 200
    assert answer.headers["access-control-allow-origin"] == ORIGIN


def test_an_unknown_origin_may_not(service: RestService) -> None:
    """There is no wildcard."""
    answer = service.call("GET", "/health", headers={"Origin": "http://evil.example"})
    assert "access-control-allow-origin" not in answer.headers


def test_errors_pass_through_the_cors_layer(service: RestService) -> None:
    """A browser must be able to read them."""
    answer = service.call("GET", "/nowhere", headers={"Origin": ORIGIN})
    assert answer.headers["access-control-allow-origin"] == ORIGIN


def test_unforeseen_exceptions_are_json_and_readable(tmp_path: Path) -> None:
    """Even those, without a word about the inside."""
    app = memory_app(tmp_path)

    async def broken() -> None:
        raise RuntimeError("a secret of the inside")

    app.add_api_route("/broken", broken)
    with RestService(app) as service:
        answer = service.call("GET", "/broken", headers={"Origin": ORIGIN})
    assert answer.status_code == 500
    assert answer.json()["code"] == "internal_error"
    assert "secret" not in answer.text
    assert answer.headers["access-control-allow-origin"] == ORIGIN


@pytest.mark.parametrize(
    "path", ["/knowledge_bases", "/credential", "/agent", "/knowledge_bases/chunkers", "/health"]
)
def test_both_slash_forms_are_served_directly(service: RestService, path: str) -> None:
    """A redirect would drop bodies in some clients."""
    one, other = service.call("GET", path), service.call("GET", f"{path}/")
    assert (one.status_code, other.status_code) == (200, 200)
    assert one.json() == other.json()


def test_the_api_pages_load_nothing_from_elsewhere(service: RestService) -> None:
    """Page, script and style come from here."""
    page = service.call("GET", "/docs", user=None)
    assert page.status_code == 200
    assert "http" not in page.text
    for name in ("swagger-ui-bundle.js", "swagger-ui.css", "start.js"):
        assert service.call("GET", f"/docs/{name}", user=None).status_code == 200
    assert service.call("GET", "/docs/other.js", user=None).status_code == 404


def test_a_host_name_that_is_not_ours_is_refused(tmp_path: Path) -> None:
    """So that no web page can point a name of its own at this machine."""
    app = memory_app(tmp_path, allowed_hosts=("localhost", "127.0.0.1", "::1"))
    with RestService(app) as service:
        for host in ("localhost:8000", "127.0.0.1", "[::1]:8000", "LOCALHOST"):
            assert service.call("GET", "/health", headers={"Host": host}).status_code == 200
        for host in ("evil.example", "evil.example:8000", "127.0.0.1.evil.example", ""):
            answer = service.call("GET", "/health", headers={"Host": host})
            assert (answer.status_code, answer.json()["code"]) == (421, "misdirected_request")


def built_ui(folder: Path) -> Path:
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<html><h1>app</h1></html>")
    (folder / "assets" / "app-123.js").write_text("let app = 1;")
    (folder / "assets" / "app-123.js.gz").write_bytes(gzip.compress(b"let app = 1;"))
    return folder


@pytest.mark.parametrize("mount", ["", "/below/a/prefix"])
def test_the_web_app_is_served_under_any_prefix(tmp_path: Path, mount: str) -> None:
    """Compressed as built, kept for ever by name, the index never; API paths stay JSON."""
    app = memory_app(tmp_path, ui=False)
    app.router.routes.extend(ui_routes(built_ui(tmp_path / "dist")))
    with RestService(app) as service:
        if mount:
            from fastapi import FastAPI

            outer = FastAPI()
            outer.mount(mount, app)
            service._client._transport.app = outer  # type: ignore[attr-defined]
        index = service.call("GET", f"{mount}/", user=None)
        assert index.text == "<html><h1>app</h1></html>"
        assert index.headers["cache-control"] == "no-cache"
        assert "default-src 'self'" in index.headers["content-security-policy"]
        script = service.call("GET", f"{mount}/assets/app-123.js", user=None)
        assert script.headers["content-encoding"] == "gzip"
        assert "immutable" in script.headers["cache-control"]
        assert script.headers["content-type"].startswith("text/javascript")
        assert script.text == "let app = 1;"
        plain = service.call(
            "GET", f"{mount}/assets/app-123.js", headers={"Accept-Encoding": "identity"}
        )
        assert "content-encoding" not in plain.headers
        for path in ("/assets/none.js", "/assets/..%2f..%2fsecret", "/nowhere"):
            assert service.call("GET", f"{mount}{path}", user=None).status_code == 404


def test_without_a_built_app_there_is_one_small_page(tmp_path: Path) -> None:
    """With exactly one heading, and links to the API."""
    app = memory_app(tmp_path, ui=False)
    app.router.routes.extend(ui_routes(tmp_path / "nothing"))
    with RestService(app) as service:
        page = service.call("GET", "/", user=None)
    assert page.text.count("<h1>") == 1
    assert 'href="docs"' in page.text


@pytest.mark.parametrize(
    ("path", "status"),
    [("/knowledge_bases/", 200), ("/health", 200), ("/no/such/path", 404), ("/events", 422)],
)
def test_every_answer_tells_browsers_what_not_to_do(
    service: RestService, path: str, status: int
) -> None:
    """No guessing of types, no address for other sites, nothing in a cache; errors as well."""
    answer = service.call("GET", path, params={"after": -1} if path == "/events" else None)
    assert answer.status_code == status
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cache-control"] == "no-store"
