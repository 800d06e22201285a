"""Pages per CPU second of a 300-page text PDF, beside pypdf.

Once with a text operator per line, as report generators write, once with one per word, as word
processors do. PDFium's own calls, with nothing around them, are the floor: nobody who reads with
PDFium can be faster.

Run: python -m benchmarks.bench_parse_pdf [--write]
"""

import asyncio
import io
import random
import statistics
import time
from collections.abc import Callable

import pypdf
import pypdfium2
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


def document(*, per_word: bool) -> bytes:
    """Return a PDF of pages full of words."""
    randomness = random.Random(SEED)
    stream = io.BytesIO()
    canvas = Canvas(stream, pagesize=A4, pageCompression=1)
    for page in range(PAGES):
        text = canvas.beginText(60, 780)
        text.textLine(f"Page {page + 1}")
        for _ in range(LINES):
            words = randomness.choices(WORDS, k=WORDS_PER_LINE)
            for word in words[:-1] if per_word else ():
                text.textOut(f"{word} ")
            text.textLine(words[-1] if per_word else " ".join(words))
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


def floor(data: bytes) -> int:
    """Return how many characters PDFium finds, without reading them."""
    raw, found = pypdfium2.raw, 0
    document = pypdfium2.PdfDocument(data)
    for number in range(len(document)):
        page = raw.FPDF_LoadPage(document.raw, number)
        text = raw.FPDFText_LoadPage(page)
        found += raw.FPDFText_CountChars(text)
        raw.FPDFText_ClosePage(text)
        raw.FPDF_ClosePage(page)
    document.close()
    return found


def rate(read: Callable[[bytes], int], data: bytes, runs: int) -> tuple[list[float], int]:
    """Return pages per CPU second of each run, and how much was read."""
    rates, characters = [], 0
    for _ in range(runs):
        begun = time.process_time()
        characters = read(data)
        rates.append(PAGES / (time.process_time() - begun))
    return rates, characters


def compared(data: bytes) -> dict[str, object]:
    """Return the figures of the readers, which take turns so that they share the noise."""
    mine, other, least = [], [], []
    rate(ours, data, 1)
    for _ in range(RUNS):
        rates, my_characters = rate(ours, data, 1)
        mine += rates
        rates, other_characters = rate(theirs, data, 1)
        other += rates
        least += rate(floor, data, 1)[0]
    return {
        "bytes": len(data),
        "pages_per_cpu_second": spread(mine, 1),
        "pypdf_pages_per_cpu_second": spread(other, 1),
        "pdfium_pages_per_cpu_second": spread(least, 1),
        "share_of_pdfium": round(statistics.median(mine) / statistics.median(least), 2),
        "characters": my_characters,
        "pypdf_characters": other_characters,
        "times_pypdf": round(statistics.median(mine) / statistics.median(other), 1),
    }


def main() -> None:
    """Measure and print."""
    arguments(str(__doc__)).parse_args()
    figures = {
        "operator per line": compared(document(per_word=False)),
        "operator per word": compared(document(per_word=True)),
    }
    report(
        "parse_pdf",
        {"seed": SEED, "pages": PAGES, "limit_times_pypdf": 4, **figures},
        packages=("pypdfium2", "pypdf"),
    )


if __name__ == "__main__":
    main()
