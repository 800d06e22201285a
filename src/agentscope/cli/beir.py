"""Retrieval sets in the BEIR form: `corpus.jsonl`, `queries.jsonl`, `qrels.tsv`.

A line of the corpus becomes a document of its own. Its id stands in the metadata of the upload
and, as far as a file name allows, in the name.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from agentscope.errors import InvalidInputError

ID = "_id"
NAME_CHARS = 150


@dataclass(frozen=True, slots=True)
class Upload:
    """A file to send, and the place by which it is known again."""

    path: Path
    place: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    keep_duplicates: bool = False


def corpus_uploads(corpus: Path, folder: Path) -> list[Upload]:
    """Write each text of the corpus into `folder` as a file; those without text are left out.

    Raises:
        InvalidInputError: the corpus is malformed; the message names the line.
    """
    uploads = []
    for number, row in enumerate(_rows(corpus)):
        text = _text(row)
        if not text:
            continue
        identifier = str(row[ID])
        place = folder / str(number)  # ids may differ in case only, file systems may not
        place.mkdir()
        path = place / f"{quote(identifier, safe='')[:NAME_CHARS]}.txt"
        path.write_text(text, encoding="utf-8")
        uploads.append(Upload(path, identifier, {ID: identifier}, keep_duplicates=True))
    return uploads


def read_queries(path: Path) -> dict[str, str]:
    """Return the text of each query."""
    return {str(row[ID]): str(row["text"]) for row in _rows(path)}


def read_judgements(path: Path) -> dict[str, dict[str, float]]:
    """Return the gains per query; the first line is a header if its last field is no number.

    Raises:
        InvalidInputError: a line has not three fields, or its last is no number.
    """
    judgements: dict[str, dict[str, float]] = {}
    for number, line in enumerate(path.read_text("utf-8").split("\n"), 1):
        if not line.strip():
            continue
        fields = line.rstrip("\r").split("\t")
        try:
            query, document, gain = fields
            judgements.setdefault(query, {})[document] = float(gain)
        except ValueError as exc:
            if number == 1:
                continue
            raise InvalidInputError(
                f"Line {number} of {path.name} is not: query, document and grade, with tabs."
            ) from exc
    return {query: gains for query, gains in judgements.items() if gains}


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
                row[ID], row["text"]
            except (ValueError, KeyError, TypeError) as exc:
                raise InvalidInputError(
                    f"Line {number} of {path.name} is not a JSON object with _id and text."
                ) from exc
            yield row


def _text(row: Mapping[str, Any]) -> str:
    title, text = str(row.get("title") or "").strip(), str(row["text"]).strip()
    return text if not title or not text or text.startswith(title) else f"{title}\n\n{text}"
