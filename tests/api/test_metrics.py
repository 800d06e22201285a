"""What the service tells about itself, read with Prometheus' own parser."""

import re
from pathlib import Path

import httpx
import pytest
import yaml
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from agentscope import observe
from agentscope.testing.rest import RestService, memory_app

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs/reference/metrics.md"


def _scraped(service: RestService) -> dict[str, Metric]:
    answer = service.call("GET", "/metrics", user=None)
    assert answer.status_code == 200
    return {family.name: family for family in text_string_to_metric_families(answer.text)}


def _value(families: dict[str, Metric], name: str, **labels: str) -> float:
    return sum(
        sample.value
        for family in families.values()
        for sample in family.samples
        if sample.name == name and labels.items() <= sample.labels.items()
    )


def test_a_document_leaves_its_traces_in_the_metrics(service: RestService, user: str) -> None:
    """Upload, stages, run, embedding, search and requests are all counted."""
    before = _scraped(service)
    kb = service.knowledge_base(user=user)
    service.ready(kb, "notes.txt", b"plain words about wooden boats", user=user)
    service.json("POST", f"/knowledge_bases/{kb}/search", user=user, json={"query": "boats"})
    after = _scraped(service)
    for name, labels in [
        ("rag_uploads_total", {"outcome": "stored"}),
        ("rag_upload_bytes_total", {}),
        ("rag_index_runs_total", {"outcome": "ready"}),
        ("rag_index_stage_seconds_count", {"stage": "parsing"}),
        ("rag_index_stage_seconds_count", {"stage": "indexing"}),
        ("rag_embedding_calls_total", {"use": "index", "outcome": "ok"}),
        ("rag_embedding_calls_total", {"use": "query", "outcome": "ok"}),
        ("rag_search_leg_seconds_count", {"leg": "vector"}),
        ("rag_search_leg_seconds_count", {"leg": "keyword"}),
        ("rag_search_seconds_count", {"mode": "hybrid"}),
        ("rag_http_requests_total", {"method": "POST", "status": "201"}),
    ]:
        assert _value(after, name, **labels) > _value(before, name, **labels), name
    assert _value(after, "rag_index_unfinished_documents") >= 0
    assert _value(after, "rag_index_oldest_due_seconds") >= 0


def test_labels_name_no_tenant_and_no_thing(service: RestService, user: str) -> None:
    """Ids, users and made-up paths never become series."""
    kb = service.knowledge_base(user=user)
    service.call("GET", f"/knowledge_bases/{kb}/documents", user=user)
    service.call("GET", f"/no/such/{kb}", user=user)
    text = service.call("GET", "/metrics", user=None).text
    assert kb not in text
    assert user not in text
    assert 'route="/knowledge_bases/{knowledge_base_id}/documents"' in text
    assert 'route="unmatched"' in text


def test_metrics_are_the_operators(tmp_path: Path) -> None:
    """From elsewhere they need the key."""
    with RestService(memory_app(tmp_path), client_address="203.0.113.9") as service:
        assert service.call("GET", "/metrics", user="alice").status_code == 401
        parts = service.app.state.agentscope.parts
        key = {"Authorization": f"Bearer {parts.operator_key}"}
        assert service.call("GET", "/metrics", user=None, headers=key).status_code == 200


def test_every_metric_is_documented_and_every_documented_one_exists(service: RestService) -> None:
    """The page, the registry and the exposition name the same metrics."""
    documented = set(re.findall(r"^\| `(rag_\w+)` \|", REFERENCE.read_text(), re.MULTILINE))
    registered = {family.name for family in observe.families()}
    assert documented == registered
    exposed = {name.removesuffix("_total") for name in _scraped(service)}
    assert {name.removesuffix("_total") for name in documented} == exposed


@pytest.mark.parametrize(("status", "label"), [(200, "2xx"), (429, "429"), (404, "4xx")])
def test_refusals_for_haste_are_counted_apart(status: int, label: str) -> None:
    """A 429 is no other 4xx."""
    child = observe.PROVIDER_ANSWERS.labels(label)
    before = child._value.get()
    observe.provider_answered(status)
    assert child._value.get() == before + 1


def test_a_worker_shows_its_metrics_on_a_port() -> None:
    """The same text as `/metrics`, without the web framework."""
    with observe.served("127.0.0.1", 0) as port:
        answer = httpx.get(f"http://127.0.0.1:{port}/metrics", trust_env=False)
    names = {family.name for family in text_string_to_metric_families(answer.text)}
    assert "rag_index_runs" in names
    assert not any(name.endswith("_created") for name in names)


@pytest.mark.parametrize("name", ["grafana/dashboard.json", "prometheus/alerts.yaml"])
def test_dashboard_and_alerts_name_metrics_that_exist(name: str) -> None:
    """No panel and no rule is about nothing."""
    text = (ROOT / "deploy" / name).read_text()
    known = {family.name for family in observe.families()}
    used = {re.sub(r"_(bucket|count|sum)$", "", word) for word in re.findall(r"rag_\w+", text)}
    assert used
    assert used <= known


def test_every_metric_is_on_the_dashboard() -> None:
    """What is worth measuring is worth showing."""
    text = (ROOT / "deploy/grafana/dashboard.json").read_text()
    assert [family.name for family in observe.families() if family.name not in text] == []


def test_every_alert_says_what_to_do() -> None:
    """The page and the rules name the same alerts."""
    rules = yaml.safe_load((ROOT / "deploy/prometheus/alerts.yaml").read_text())
    alerts = {rule["alert"] for group in rules["groups"] for rule in group["rules"]}
    page = (ROOT / "docs/how-to/observe.md").read_text()
    assert alerts == set(re.findall(r"^\| `(Rag\w+)` \|", page, re.MULTILINE))
