"""What reading a document told its owner: coverage, encoding, warnings, why nothing was found."""

from dataclasses import dataclass, field
from typing import Any

from agentscope.app.rag.indexing.reading import ReadOutcome
from agentscope.app.records import DocumentRecord
from agentscope.rag.document import ParseReport


@dataclass(frozen=True, slots=True)
class Findings:
    """What a run learned about its document; shown to the user whether it worked or not."""

    warnings: tuple[str, ...] = ()
    report: dict[str, Any] = field(default_factory=dict)


def findings_of(document: DocumentRecord, outcome: ReadOutcome) -> Findings:
    """Return what reading told, as it is stored; what was odd at upload stays a warning."""
    report = outcome.report
    stored: dict[str, Any] = {
        "media_type": report.media_type,
        "parser": report.parser,
        "parse_seconds": round(outcome.seconds, 3),
        "coverage": {
            "unit": report.coverage.unit,
            "total": report.coverage.total,
            "with_text": report.coverage.with_text,
            "without_text": list(report.coverage.without_text),
        },
    }
    if report.encoding:
        stored["encoding"] = report.encoding
    if report.language:
        stored["language"] = report.language
    note = document.report.get("routing_note")
    if note:
        stored["routing_note"] = note
    return Findings((*([str(note)] if note else []), *report.warnings), stored)


def with_left_out(findings: Findings, pictures: int) -> Findings:
    """Add the warning about chunks that the model cannot embed."""
    if pictures == 0:
        return findings
    noun = "picture was" if pictures == 1 else "pictures were"
    sentence = (
        f"{pictures} {noun} left out, because the embedding model of this knowledge base "
        "takes text only."
    )
    return Findings((*findings.warnings, sentence), {**findings.report, "left_out": pictures})


def no_text_reason(outcome: ReadOutcome, *, text_only: bool) -> str:
    """Return why there is nothing to index, in one sentence."""
    if text_only and outcome.chunk_count:
        return (
            "The file holds pictures only, and the embedding model of this knowledge base takes "
            "text only."
        )
    return empty_reason(outcome.report)


def empty_reason(report: ParseReport) -> str:
    """Return why a file gave no text, as far as reading it told."""
    coverage = report.coverage
    if coverage.unit in ("page", "slide", "image") and coverage.total:
        return (
            f"No text was found on any {coverage.unit} ({coverage.total} in all); if it is a scan, "
            "text recognition is needed."
        )
    return "No text was found in the file."
