"""The embedded service under load: 500 documents while the API answers; then killed mid-upload.

Prints one JSON line. `python benchmarks/bench_embedded.py [--documents 500]`.
"""

import argparse
import json
import os
import platform
import statistics
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import psutil

from agentscope.testing.live_service import LiveService
from agentscope.testing.processes import Served, serving

WORDS = 1200  # about 8 KB of text


def client(service: Served) -> httpx.Client:
    """Return a client of the default user."""
    return httpx.Client(
        base_url=service.base_url, headers={"X-User-ID": "default"}, timeout=60, trust_env=False
    )


def text(number: int) -> bytes:
    """Return the document with this number."""
    return " ".join(f"word{(number * 7919 + n * 104729) % 5000}" for n in range(WORDS)).encode()


def sample(service: Served, base: str, stop: threading.Event, took: dict[str, list[float]]) -> None:
    """Ask the three common questions one after the other until told to stop."""
    questions = {
        "list": ("GET", f"/knowledge_bases/{base}/documents?page_size=30", None),
        "knowledge_bases": ("GET", "/knowledge_bases/", None),
        "health": ("GET", "/health", None),
    }
    with client(service) as http:
        while not stop.is_set():
            for name, (method, path, body) in questions.items():
                begun = time.perf_counter()
                http.request(method, path, json=body)
                took.setdefault(name, []).append(1000 * (time.perf_counter() - begun))
            stop.wait(0.02)


def cpu_seconds(service: Served) -> float:
    """Return the CPU time of the service and its children."""
    assert service.popen is not None
    root = psutil.Process(service.popen.pid)
    return sum(sum(p.cpu_times()[:2]) for p in [root, *root.children(recursive=True)])


def percentiles(values: list[float]) -> dict[str, float]:
    """Return p50, p99 and the maximum in milliseconds."""
    cuts = statistics.quantiles(values, n=100)
    return {"p50": round(cuts[49], 1), "p99": round(cuts[98], 1), "max": round(max(values), 1)}


def load(service: Served, documents: int) -> dict[str, Any]:
    """Upload and index while sampling."""
    with client(service) as http:
        live = LiveService(http)
        base = live.knowledge_base("load")
        took: dict[str, list[float]] = {}
        stop = threading.Event()
        sampler = threading.Thread(target=sample, args=(service, base, stop, took))
        sampler.start()
        begun, used = time.monotonic(), cpu_seconds(service)
        ids = [
            live.upload(base, f"{n}.txt", text(n)).json()["document_id"] for n in range(documents)
        ]
        uploaded = time.monotonic() - begun
        views = live.settled(base, ids, seconds=1800)
        wall, cpu = time.monotonic() - begun, cpu_seconds(service) - used
        stop.set()
        sampler.join()
        audit = live.json("POST", "/operator/audit")
    return {
        "documents": documents,
        "ready": sum(view["status"] == "ready" for view in views.values()),
        "upload_seconds": round(uploaded, 1),
        "seconds": round(wall, 1),
        "documents_per_second": round(documents / wall, 1),
        "cpu_ms_per_document": round(1000 * cpu / documents, 1),
        "cores_busy": round(cpu / wall, 2),
        "api_ms": {name: percentiles(values) for name, values in took.items()},
        "audit_clean": audit["clean"],
    }


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=500)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as root, serving(Path(root) / "data") as service:
        begun = time.monotonic()
        result = load(service, args.documents)
        service.kill()
        begun = time.monotonic()
        service.start()
        result["second_start_seconds"] = round(time.monotonic() - begun, 2)
    result["load1"] = round(os.getloadavg()[0], 1)
    result["machine"] = f"{os.cpu_count()} cores, {platform.python_version()}"
    print(json.dumps(result))


if __name__ == "__main__":
    main()
