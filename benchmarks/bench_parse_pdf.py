"""Pages per CPU second of a 300-page text PDF, beside pypdf.

Run: python -m benchmarks.bench_parse_pdf [--write]
"""

import asyncio
import io
import random
import time
from collections.abc import Callable

import pypdf
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from agentscope.rag.parser.pdf import PDFParser
from benchmarks.figures import arguments, report, spread

PAGES, LINES, WORDS_PER_LINE, SEED, RUNS = 300, 46, 12, 7, 5
TEXT = (
    "the contract of a store says what happens when two workers write at once and which of them "
    "wins because a record is the truth while every signal is only a hint that may be lost"
)
WORDS = TEXT.split()


def document() -> bytes:
    """Return a PDF of pages full of words."""
    randomness = random.Random(SEED)
    stream = io.BytesIO()
    canvas = Canvas(stream, pagesize=A4, pageCompression=1)
    for page in range(PAGES):
        text = canvas.beginText(60, 780)
        text.textLine(f"Page {page + 1}")
        for _ in range(LINES):
            text.textLine(" ".join(randomness.choices(WORDS, k=WORDS_PER_LINE)))
        canvas.drawText(text)
        canvas.showPage()
    canvas.save()
    return stream.getvalue()


def ours(data: bytes) -> int:
    """Return how many characters the product reads."""
    sections = asyncio.run(PDFParser().parse(data, "bench.pdf"))
    return sum(len(getattr(section.content, "text", "")) for section in sections)


def theirs(data: bytes) -> int:
    """Return how many characters pypdf reads."""
    return sum(len(page.extract_text()) for page in pypdf.PdfReader(io.BytesIO(data)).pages)


def rate(read: Callable[[bytes], int], data: bytes, runs: int) -> tuple[list[float], int]:
    """Return pages per CPU second of each run, and how much was read."""
    rates, characters = [], 0
    for _ in range(runs):
        begun = time.process_time()
        characters = read(data)
        rates.append(PAGES / (time.process_time() - begun))
    return rates, characters


def main() -> None:
    """Measure and print."""
    arguments(str(__doc__)).parse_args()
    data = document()
    rate(ours, data, 1)
    rate(theirs, data, 1)
    mine, my_characters = rate(ours, data, RUNS)
    other, other_characters = rate(theirs, data, RUNS)
    report(
        "parse_pdf",
        {
            "seed": SEED,
            "pages": PAGES,
            "bytes": len(data),
            "pages_per_cpu_second": spread(mine, 1),
            "pypdf_pages_per_cpu_second": spread(other, 1),
            "characters": my_characters,
            "pypdf_characters": other_characters,
            "times_pypdf": round(spread(mine)["median"] / spread(other)["median"], 1),
            "limit_times_pypdf": 4,
        },
        packages=("pypdfium2", "pypdf"),
    )


if __name__ == "__main__":
    main()
