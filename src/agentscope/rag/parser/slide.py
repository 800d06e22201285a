"""The shapes of one slide of a presentation, in reading order."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from agentscope.rag.parser.drawing import body_text, chart_lines, diagram_lines, table_rows
from agentscope.rag.parser.ooxml import Package
from agentscope.rag.parser.xmlguard import (
    Element,
    attribute,
    child,
    children,
    descendants,
    local_name,
)

SHAPES_MAX = 50_000
_TITLES = {"title", "ctrTitle"}


@dataclass(slots=True)
class Piece:
    """A shape's text, a table's rows or a picture's part: exactly one of them is set."""

    text: str = ""
    rows: list[list[str]] = field(default_factory=list)
    picture: str = ""


class SlideReader:
    """Reads slides and remembers which masters and layouts they use."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self._backgrounds: dict[str, None] = {}
        self._seen: set[str] = set()

    def pieces(self, part: str) -> Iterator[Piece]:
        """Yield the pieces of the slide: its title first, then shapes, comments and notes."""
        root = self.package.side_xml(part)
        if root is None:
            return
        self._remember_background(part)
        tree = child(root, "cSld", "spTree")
        shapes = list(_shapes(tree)) if tree is not None else []
        shapes.sort(key=lambda shape: not _is_title(shape))
        for shape in shapes:
            yield from self._shape(shape, part)
        for text in self._comments(part):
            yield Piece(text=text)
        for text in self._notes(part):
            yield Piece(text=f"Notes: {text}")

    def master_lines(self) -> Iterator[str]:
        """Yield text that stands only on masters and layouts, each line once."""
        for part in self._backgrounds:
            root = self.package.side_xml(part)
            tree = child(root, "cSld", "spTree") if root is not None else None
            for shape in _shapes(tree) if tree is not None else ():
                kind = _placeholder(shape)
                if kind is not None and kind not in {"ftr", "hdr"}:
                    continue
                body = child(shape, "txBody")
                text = body_text(body).strip() if body is not None else ""
                if text and text not in self._seen:
                    self._seen.add(text)
                    yield text

    def _remember_background(self, part: str) -> None:
        for layout in self.package.related(part, "slideLayout"):
            self._backgrounds[layout] = None
            for master in self.package.related(layout, "slideMaster"):
                self._backgrounds[master] = None

    def _shape(self, shape: Element, part: str) -> Iterator[Piece]:
        name = local_name(shape)
        if name == "graphicFrame":
            yield from self._frame(shape, part)
        elif _placeholder(shape) not in {"sldNum"}:
            for body in children(shape, "txBody") + children(shape, "txXfrm"):
                text = body_text(body)
                if text:
                    self._seen.add(text.strip())
                    yield Piece(text=text)
        for blip in descendants(shape, "blip") if name in {"pic", "sp"} else ():
            target = self.package.target(part, attribute(blip, "embed"))
            if target:
                yield Piece(picture=target)
                break

    def _frame(self, frame: Element, part: str) -> Iterator[Piece]:
        """Read a table, a chart, a SmartArt drawing or an embedded object's picture."""
        for table in descendants(frame, "tbl"):
            yield Piece(rows=table_rows(table))
            return
        for name, attribute_name in (("relIds", "dm"), ("chart", "id")):
            for reference in descendants(frame, name):
                target = self.package.target(part, attribute(reference, attribute_name))
                root = self.package.side_xml(target)
                if root is not None:
                    lines = diagram_lines(root) if name == "relIds" else chart_lines(root)
                    yield Piece(text="\n".join(lines))
                return

    def _notes(self, part: str) -> Iterator[str]:
        for notes in self.package.related(part, "notesSlide"):
            root = self.package.side_xml(notes)
            tree = child(root, "cSld", "spTree") if root is not None else None
            for shape in _shapes(tree) if tree is not None else ():
                body = child(shape, "txBody")
                if _placeholder(shape) not in {"sldNum", "dt", "hdr", "ftr", "sldImg"}:
                    text = body_text(body).strip() if body is not None else ""
                    if text:
                        yield text

    def _comments(self, part: str) -> Iterator[str]:
        for comments in self.package.related(part, "comments"):
            root = self.package.side_xml(comments)
            for comment in descendants(root, "cm") if root is not None else ():
                plain = child(comment, "text")
                bodies = list(descendants(comment, "txBody"))
                text = (plain.text or "") if plain is not None else ""
                text = text or "\n".join(body_text(body) for body in bodies)
                if text.strip():
                    yield f"Comment: {text}"


def _shapes(tree: Element) -> Iterator[Element]:
    """Yield shapes, pictures and frames in tree order, groups opened at every depth."""
    stack = [iter(tree)]
    for _ in range(SHAPES_MAX * 4):
        if not stack:
            return
        item = next(stack[-1], None)
        if item is None:
            stack.pop()
            continue
        name = local_name(item)
        if name in {"sp", "pic", "graphicFrame", "cxnSp", "contentPart"}:
            yield item
        elif name == "grpSp":
            stack.append(iter(item))
        elif name == "AlternateContent":
            branches = [part for part in item if local_name(part) in {"Choice", "Fallback"}]
            stack.append(iter(branches[0] if branches else ()))


def _placeholder(shape: Element) -> str | None:
    """Return the placeholder type of a shape, None for an ordinary shape."""
    for item in shape:
        if local_name(item).startswith("nv"):
            found = child(item, "nvPr", "ph")
            if found is not None:
                return attribute(found, "type") or "obj"
    return None


def _is_title(shape: Element) -> bool:
    return _placeholder(shape) in _TITLES
