"""Traces: spans that tell where the time of one request or document went.

Nothing is recorded, and OpenTelemetry is not even imported, until `recording` is given a tracer
provider. A trace goes on in another process from the text that `traceparent` returns.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

from agentscope.optional import require

INSTRUMENTATION = "agentscope"
PACKAGE, EXTRA = "opentelemetry-api", "otel"
TRACEPARENT_CHARS = 55
"""Length of a W3C trace parent of version 00; the rest of a longer one belongs to the future."""

Attributes = Mapping[str, str | int | float | bool]


class Span:
    """A span that is not recorded; the other kind does something."""

    def set(self, attributes: Attributes) -> None:
        """Add attributes."""

    def rename(self, name: str) -> None:
        """Give a better name than the one that was known at the start."""

    def failed(self, code: str) -> None:
        """Mark the span as ended by an error with this code."""


class _Recorded(Span):
    def __init__(self, span: Any, error: Any) -> None:
        self._span = span
        self._error = error

    def set(self, attributes: Attributes) -> None:
        for name, value in attributes.items():
            self._span.set_attribute(name, value)

    def rename(self, name: str) -> None:
        self._span.update_name(name)

    def failed(self, code: str) -> None:
        self._span.set_attribute("error.type", code)
        self._span.set_status(self._error)


@dataclass(frozen=True, slots=True)
class _Recorder:
    """OpenTelemetry as far as it is used here."""

    tracer: Any
    trace: Any  # the module
    context: Any  # the module
    propagator: Any

    @contextmanager
    def span(
        self, name: str, attributes: Attributes, *, kind: str, parent: Any = None
    ) -> Iterator[Span]:
        started = self.tracer.start_span(
            name,
            context=parent,
            kind=self.trace.SpanKind[kind],
            attributes=attributes,
            record_exception=False,
            set_status_on_exception=False,
        )
        span = _Recorded(started, self.trace.StatusCode.ERROR)
        try:
            # The messages of errors may quote what a user sent: the code alone is kept.
            with self.trace.use_span(
                started, end_on_exit=False, record_exception=False, set_status_on_exception=False
            ):
                yield span
        except BaseException as exc:
            span.failed(str(getattr(exc, "code", type(exc).__name__)))
            raise
        finally:
            started.end()

    def received(self, traceparent: str) -> Any:
        """Return the context of a trace that began elsewhere; a new one if the text is none."""
        carrier = {"traceparent": traceparent[:TRACEPARENT_CHARS]}
        return self.propagator.extract(carrier, context=self.context.Context())


class _State:
    """The recorder of this process, if there is one."""

    recorder: _Recorder | None = None


@contextmanager
def recording(provider: Any) -> Iterator[None]:
    """Record spans with this OpenTelemetry tracer provider while open; None changes nothing.

    Raises:
        MissingDependencyError: the package is not installed.
    """
    if provider is None:
        yield
        return
    module = "opentelemetry.trace.propagation.tracecontext"
    propagation = require(module, package=PACKAGE, extra=EXTRA)
    before = _State.recorder
    _State.recorder = _Recorder(
        tracer=provider.get_tracer(INSTRUMENTATION),
        trace=require("opentelemetry.trace", package=PACKAGE, extra=EXTRA),
        context=require("opentelemetry.context", package=PACKAGE, extra=EXTRA),
        propagator=propagation.TraceContextTextMapPropagator(),
    )
    try:
        yield
    finally:
        _State.recorder = before


_NOT_RECORDED = Span()


def span(
    name: str, attributes: Attributes | None = None, *, kind: str = "INTERNAL"
) -> AbstractContextManager[Span]:
    """Open a span below the current one; `kind` is one of OpenTelemetry's."""
    recorder = _State.recorder
    if recorder is None:
        return nullcontext(_NOT_RECORDED)
    return recorder.span(name, attributes or {}, kind=kind)


def continued(
    traceparent: str, name: str, attributes: Attributes | None = None, *, kind: str
) -> AbstractContextManager[Span]:
    """Open a span of the trace that another process began; a new trace if `traceparent` is ''."""
    recorder = _State.recorder
    if recorder is None:
        return nullcontext(_NOT_RECORDED)
    parent = recorder.received(traceparent)
    return recorder.span(name, attributes or {}, kind=kind, parent=parent)


def traceparent() -> str:
    """Return the current span as text for another process; '' if there is none."""
    recorder = _State.recorder
    if recorder is None:
        return ""
    carrier: dict[str, str] = {}
    recorder.propagator.inject(carrier)
    return carrier.get("traceparent", "")


def trace_id() -> str:
    """Return the id of the current trace; '' if there is none."""
    return traceparent()[3:35]


@dataclass(frozen=True, slots=True)
class Here:
    """A place in a trace, to hang spans on from wherever they are measured."""

    context: Any = None

    def ended(self, name: str, seconds: float, attributes: Attributes | None = None) -> None:
        """Record a span that ended now and took so long."""
        recorder = _State.recorder
        if recorder is None or self.context is None:
            return
        now = time.time_ns()
        started = recorder.tracer.start_span(
            name,
            context=self.context,
            attributes=attributes or {},
            start_time=now - round(seconds * 1e9),
        )
        started.end(now)


def here() -> Here:
    """Return the current place."""
    recorder = _State.recorder
    return Here() if recorder is None else Here(recorder.context.get_current())
