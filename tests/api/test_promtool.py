"""Prometheus' own tool reads what we show and the rules that we ship."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from agentscope.testing.rest import RestService

ALERTS = Path(__file__).parents[2] / "deploy/prometheus/alerts.yaml"
UNDER_CI = os.environ.get("CI", "").lower() in {"1", "true", "yes"}
NAMED = "PROMTOOL"
SECONDS = 300

RULES = {
    rule["alert"]: rule
    for group in yaml.safe_load(ALERTS.read_text())["groups"]
    for rule in group["rules"]
}

# Values of one minute each: what waits long fires, what the operator paused does not.
CASES = {
    "rule_files": [str(ALERTS)],
    "evaluation_interval": "1m",
    "tests": [
        {
            "interval": "1m",
            "input_series": [
                {
                    "series": 'rag_queue_oldest_due_seconds{tenant_class="small"}',
                    "values": "700+60x40",
                },
                {
                    "series": 'rag_queue_documents{tenant_class="small"}',
                    "values": "3x40",
                },
                {"series": "rag_index_running_documents", "values": "0x40"},
                {"series": "rag_workers", "values": "0x40"},
                {"series": "rag_index_unfinished_documents", "values": "3x40"},
            ],
            "alert_rule_test": [
                {
                    "eval_time": "20m",
                    "alertname": name,
                    "exp_alerts": [
                        {
                            "exp_labels": RULES[name]["labels"],
                            "exp_annotations": RULES[name]["annotations"],
                        }
                    ],
                }
                for name in ("RagDocumentsWaitTooLong", "RagNothingIsIndexed", "RagNoWorker")
            ],
        },
        {
            "interval": "1m",
            "input_series": [
                {
                    "series": 'rag_queue_oldest_due_seconds{tenant_class="paused"}',
                    "values": "700+60x40",
                },
                {"series": 'rag_queue_documents{tenant_class="paused"}', "values": "3x40"},
                {"series": "rag_index_running_documents", "values": "0x40"},
                {"series": "rag_workers", "values": "1x40"},
                {"series": "rag_index_unfinished_documents", "values": "3x40"},
            ],
            "alert_rule_test": [
                {"eval_time": "20m", "alertname": name, "exp_alerts": []}
                for name in ("RagDocumentsWaitTooLong", "RagNothingIsIndexed", "RagNoWorker")
            ],
        },
    ],
}


@pytest.fixture(scope="module")
def promtool(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the tool: one that is here or, under CI, the one of Debian's package."""
    found = os.environ.get(NAMED) or shutil.which("promtool")
    if found:
        return found
    if not UNDER_CI:
        pytest.skip(f"METRICS AND ALERTS ARE NOT CHECKED: no promtool; name one with {NAMED}=...")
    folder = tmp_path_factory.mktemp("prometheus")
    # Unpacked, not installed: the suite needs the tool and no service.
    subprocess.run(["apt-get", "update", "-qq"], timeout=SECONDS, check=False)
    for command in ("apt-get download prometheus", "dpkg-deb -x *.deb ."):
        subprocess.run(
            ["sh", "-c", command], cwd=folder, timeout=SECONDS, check=True, capture_output=True
        )
    return str(folder / "usr/bin/promtool")


def _passes(command: list[str], *, sent: str | None = None) -> None:
    done = subprocess.run(command, input=sent, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_promtool_reads_the_metrics(service: RestService, user: str, promtool: str) -> None:
    """Names, types and help texts follow its conventions, too."""
    kb = service.knowledge_base(user=user)
    service.ready(kb, "notes.txt", b"plain words", user=user)
    service.json("POST", f"/knowledge_bases/{kb}/search", user=user, json={"query": "words"})
    text = service.call("GET", "/metrics", user=None).text
    _passes([promtool, "check", "metrics"], sent=text)


def test_promtool_reads_the_alert_rules(promtool: str) -> None:
    """Every expression is valid."""
    _passes([promtool, "check", "rules", str(ALERTS)])


def test_alerts_fire_for_what_waits_and_not_for_what_is_paused(
    promtool: str, tmp_path: Path
) -> None:
    """Run on made-up series."""
    cases = tmp_path / "cases.yaml"
    cases.write_text(yaml.safe_dump(CASES))
    _passes([promtool, "test", "rules", str(cases)])
