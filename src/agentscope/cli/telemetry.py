"""What a process of ours tells about itself: log lines, and traces if there is somewhere to send.

The endpoint comes from our settings; everything else about traces (headers, sampling, the name of
the service) from the standard `OTEL_` variables, which OpenTelemetry reads itself.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from agentscope import logs
from agentscope.app.settings import Settings
from agentscope.installation import installed_version
from agentscope.optional import require

SERVICE = "agentscope-rag"


def set_up_logs(settings: Settings) -> None:
    """Log to standard error, as the settings say."""
    logs.set_up(settings.log_level, settings.log_format)


@contextmanager
def traces(settings: Settings, *, role: str) -> Iterator[Any]:
    """Yield what `create_app` and workers take as `tracer_provider`; None if none is set up.

    What is left to send is sent when the context ends.

    Raises:
        MissingDependencyError: an endpoint is set and the extra `otel` is not installed.
    """
    if not settings.otlp_endpoint:
        yield None
        return
    provider = _provider(settings.otlp_endpoint, role)
    try:
        yield provider
    finally:
        provider.shutdown()


def _provider(endpoint: str, role: str) -> Any:
    sdk = require("opentelemetry.sdk.trace", package="opentelemetry-sdk", extra="otel")
    export = require("opentelemetry.sdk.trace.export", package="opentelemetry-sdk", extra="otel")
    resources = require("opentelemetry.sdk.resources", package="opentelemetry-sdk", extra="otel")
    otlp = require(
        "opentelemetry.exporter.otlp.proto.http.trace_exporter",
        package="opentelemetry-exporter-otlp-proto-http",
        extra="otel",
    )
    ours = {"service.name": SERVICE, "service.version": installed_version(), "rag.role": role}
    resource = resources.Resource.create(ours).merge(resources.OTELResourceDetector().detect())
    # The variable names the base; for a signal of its own the exporter wants the whole address.
    exporter = otlp.OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces")
    provider = sdk.TracerProvider(resource=resource)
    provider.add_span_processor(export.BatchSpanProcessor(exporter))
    return provider
