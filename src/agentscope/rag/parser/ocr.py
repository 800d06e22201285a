"""Text in pictures, by the recognition models that come with rapidocr-onnxruntime (extra `ocr`).

The models know Chinese, English, digits and the letters of western Europe; Japanese kana and
kanji come out in part, Korean does not.
"""

from importlib.util import find_spec
from typing import Any

from agentscope.optional import require
from agentscope.rag.parser.reading_order import Line, page_text

PIXELS_MAX = 40_000_000
SIDE_MAX = 2_560
SCORE_MIN = 0.6
UPRIGHT_SCORE = 0.75  # what is read upside down scores lower than this on average
THIN_SIDE = 8  # pixels; no letter can be read below
THIN_RATIO = 200  # the engine breaks on such ribbons, and no line of text is as long
NARROW_SIDE = 736
# Lines are looked for in a page of this size and read from the page itself. Twice the size took
# ten times the memory and found no more lines on scanned letters.
DETECTION_SIDE = 1_280
# The model gives blanks between English words little weight: it decides for one in half of the
# cases only, yet inside a word its weight is next to nothing. A weight above this one is a blank;
# measured on four typefaces, words read right rise from about half to six in seven.
_BLANK_WEIGHT = 0.008
_UNSPACED = (("\u2e80", "\u9fff"), ("\uf900", "\ufaff"), ("\uff00", "\uffef"))


def is_installed() -> bool:
    """Tell whether the packages for recognition are here, without loading them."""
    return find_spec("rapidocr_onnxruntime") is not None


class RapidPageOcr:
    """Recognises printed text; the models load at the first page and stay in this process."""

    def __init__(self, threads: int = 1) -> None:
        self.threads = threads
        self._engine: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {"threads": self.threads, "_engine": None}

    def read(self, image: Any) -> str:
        """Return the text of `image` (a `PIL.Image.Image`), in reading order; "" if none.

        A page that lies on its side is turned upright first.

        Raises:
            MissingDependencyError: the extra `ocr` is not installed.
        """
        thin, long = sorted(image.size)
        if thin < THIN_SIDE or long > THIN_RATIO * thin:
            return ""
        image = _prepared(image)
        lines = self._lines(image)
        if _lies_on_its_side(lines):
            turns = [90, 270]
        elif _mean_score(lines) < UPRIGHT_SCORE and lines:
            turns = [180]
        else:
            turns = []
        for turn in turns:
            lines = max(lines, self._lines(image.rotate(turn, expand=True)), key=_weight)
        kept = [line for line in lines if line.score >= SCORE_MIN and _says_something(line)]
        return page_text(kept)

    def _lines(self, image: Any) -> list[Line]:
        numpy = require("numpy", package="numpy", extra="ocr")
        if self._engine is None:
            self._engine = _load(self.threads)
        pixels = numpy.ascontiguousarray(numpy.asarray(image)[:, :, ::-1])
        # The engine would judge by each line whether it stands on its head, and errs now and
        # then; a page as a whole tells better.
        found, _ = self._engine(pixels, use_cls=False)
        lines: list[Line] = []
        for corners, text, score in found or ():
            xs, ys = [point[0] for point in corners], [point[1] for point in corners]
            lines.append(Line(min(xs), min(ys), max(xs), max(ys), text.strip(), float(score)))
        return lines


def _load(threads: int) -> Any:
    library = require("rapidocr_onnxruntime", package="rapidocr-onnxruntime", extra="ocr")
    engine = library.RapidOCR(
        intra_op_num_threads=threads,
        inter_op_num_threads=1,
        max_side_len=SIDE_MAX,
        text_score=0.0,
        det_limit_type="max",
        rec_batch_num=1,  # lines of one batch are padded to the longest
    )
    sizes = engine.text_det.get_preprocess(0)
    sizes.limit_side_len = DETECTION_SIDE
    engine.text_det.get_preprocess = lambda _longest_side: sizes
    engine.text_rec.postprocess_op = _WordDecoder(engine.text_rec.postprocess_op.character)
    return engine


class _WordDecoder:
    """Decodes what the recognition model gives (CTC, best path) and keeps words apart."""

    def __init__(self, characters: list[str]) -> None:
        self.character = characters

    def __call__(
        self, predictions: Any, return_word_box: bool = False, **_: Any
    ) -> list[tuple[str, float]]:
        """Return text and mean score of each line of shape (lines, columns, characters)."""
        del return_word_box
        return [self._decode(line) for line in predictions]

    def _decode(self, line: Any) -> tuple[str, float]:
        best = line.argmax(axis=1)
        scores = line.max(axis=1)
        text: list[str] = []
        total = 0.0
        previous = -1
        last = -1
        for column, index in enumerate(best):
            if index not in (0, previous):
                character = self.character[index]
                if text and last >= 0 and self._is_blank(line, last, column, text[-1], character):
                    text.append(" ")
                text.append(character)
                total += float(scores[column])
                last = column
            previous = index
        count = sum(1 for index in text if index != " ") or 1
        return "".join(text), min(total / count, 1.0)

    @staticmethod
    def _is_blank(line: Any, last: int, column: int, before: str, after: str) -> bool:
        if " " in (before, after) or is_ideograph(before) or is_ideograph(after):
            return False
        return bool(line[last + 1 : column, -1].max(initial=0.0) > _BLANK_WEIGHT)


def is_ideograph(character: str) -> bool:
    """Tell whether the script of `character` is written without blanks between words."""
    return any(first <= character <= last for first, last in _UNSPACED)


def _prepared(image: Any) -> Any:
    """Return the image in colour, on white where it is transparent, at most `PIXELS_MAX` big."""
    pillow = require("PIL.Image", package="pillow", extra="all")
    if image.mode.startswith("I;16") or image.mode == "I":
        image = image.convert("I").point(lambda value: value * (1 / 256)).convert("L")
    if image.mode in {"RGBA", "LA", "PA"} or "transparency" in image.info:
        image = image.convert("RGBA")
        paper = pillow.new("RGBA", image.size, "white")
        image = pillow.alpha_composite(paper, image)
    image = image.convert("RGB")
    if image.width * image.height > PIXELS_MAX:
        image.thumbnail((6_000, 6_000))
    short = min(image.size)
    if 0 < short < NARROW_SIDE:  # small print is read better when it is enlarged
        scale = min(2.0, NARROW_SIDE / short)
        image = image.resize((round(image.width * scale), round(image.height * scale)))
    return image


def _lies_on_its_side(lines: list[Line]) -> bool:
    tall = sum(len(line.text) for line in lines if line.height > 1.5 * line.width)
    return tall * 2 > sum(len(line.text) for line in lines)


def _mean_score(lines: list[Line]) -> float:
    count = sum(len(line.text) for line in lines)
    return _weight(lines) / count if count else 0.0


def _says_something(line: Line) -> bool:
    return any(map(str.isalnum, line.text))


def _weight(lines: list[Line]) -> float:
    return sum(line.score * len(line.text) for line in lines)
