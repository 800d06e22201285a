"""DrawingML: the text of shapes, tables, charts and SmartArt."""

from collections.abc import Iterator

from agentscope.rag.parser.xmlguard import (
    Element,
    attribute,
    child,
    children,
    descendants,
    local_name,
)

CHART_POINTS_MAX = 5_000
_BREAKS = {"br": "\n", "tab": "\t"}


def body_text(body: Element) -> str:
    """Return the text of a text body, one line per paragraph."""
    lines = (paragraph_text(paragraph) for paragraph in descendants(body, "p"))
    return "\n".join(line for line in lines if line.strip())


def paragraph_text(paragraph: Element) -> str:
    """Return the runs, fields, breaks and formulas of a paragraph."""
    pieces: list[str] = []
    for element in paragraph.iter():
        name = local_name(element)
        if name == "t":
            pieces.append(element.text or "")
        else:
            pieces.append(_BREAKS.get(name, ""))
    return "".join(pieces)


def table_rows(table: Element) -> list[list[str]]:
    """Return the cells of a table; a merged cell holds its text once, at its first place."""
    rows: list[list[str]] = []
    for row in children(table, "tr"):
        cells: list[str] = []
        for cell in children(row, "tc"):
            covered = attribute(cell, "hMerge") in {"1", "true"} or attribute(cell, "vMerge") in {
                "1",
                "true",
            }
            body = child(cell, "txBody")
            cells.append("" if covered or body is None else body_text(body))
        rows.append(cells)
    return rows


def diagram_lines(data_model: Element) -> Iterator[str]:
    """Yield the text of each point of a SmartArt data model."""
    for point in descendants(data_model, "pt"):
        body = child(point, "t")
        text = body_text(body) if body is not None else ""
        if text:
            yield text


def chart_lines(chart: Element) -> Iterator[str]:
    """Yield a chart's titles and, for each series, its name with categories and values."""
    for title in (*descendants(chart, "title"),):
        text = " ".join(filter(None, (paragraph_text(p) for p in descendants(title, "p"))))
        text = text or " ".join(_cached(title))
        if text.strip():
            yield text
    for series in descendants(chart, "ser"):
        name = " ".join(_cached(child(series, "tx")))
        labels = _cached(child(series, "cat")) or _cached(child(series, "xVal"))
        values = _cached(child(series, "val")) or _cached(child(series, "yVal"))
        pairs = [
            f"{labels[at]}: {value}" if at < len(labels) else value
            for at, value in enumerate(values)
        ]
        line = f"{name}: {'; '.join(pairs or labels)}" if name else "; ".join(pairs or labels)
        if line.strip():
            yield line


def _cached(holder: Element) -> list[str]:
    """Return the cached strings or numbers of a chart reference."""
    if holder is None:
        return []
    found: list[str] = []
    for value in descendants(holder, "v"):
        if len(found) >= CHART_POINTS_MAX:
            break
        found.append((value.text or "").strip())
    return found
