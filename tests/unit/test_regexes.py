"""No regular expression of the product takes time that grows faster than its input.

Each one is run against inputs made from its own characters: long runs, alternating pairs, and
its own words repeated. What is measured is processor time, with a limit that a quadratic one
exceeds by far and a linear one never comes near.
"""

import importlib
import pkgutil
import re
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import agentscope
from agentscope.embedding.provider_errors import failure
from agentscope.rag.parser.encoding import _high_lines
from agentscope.rag.parser.hypertext import _without_tags
from agentscope.rag.parser.json import _tokens
from agentscope.rag.parser.svg import _without_subset

LENGTH = 3000
LIMIT_SECONDS = 0.35
LONG = 400_000
LONG_LIMIT_SECONDS = 20.0
COMMON = " \n\"'.,-<&\\!xa0"
MAGIC = "()[]{}?*+|^$\\"

# How they are used where looking for them at every place would be slow: at the beginning only,
# or on text that is never longer than this.
AT_THE_BEGINNING = {
    "agentscope.rag.chunker.outline._ATX",
    "agentscope.rag.chunker.outline._UNDERLINE",
    "agentscope.rag.chunker.outline._PIPE_ROW",
    "agentscope.rag.parser.xmlguard._DOCTYPE",
    "agentscope.rag.terms._ASCII_LETTERS",
}
AS_A_WHOLE = {"agentscope.rag.parser.media_types._VALID"}
NEVER_LONGER = {
    "agentscope.rag.parser.csv._NUMBER": 100,
    "agentscope.embedding.provider_errors._MODEL": 4000,
}


class TooSlowError(BaseException):
    """Raised in the middle of a search; not an exception that anybody catches."""


def _patterns() -> dict[str, re.Pattern[Any]]:
    """Return every compiled expression of the product by the name it has."""
    found: dict[str, re.Pattern[Any]] = {}
    for info in pkgutil.walk_packages(agentscope.__path__, "agentscope."):
        if ".testing" in info.name or info.name.endswith("__main__"):
            continue
        for name, value in vars(importlib.import_module(info.name)).items():
            for number, item in enumerate(_items(value)):
                if isinstance(item, re.Pattern):
                    place = f"{info.name}.{name}" + (f"[{number}]" if number else "")
                    found[place] = item
    return found


def _items(value: object) -> Iterator[object]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from _items(item)
    else:
        yield value


def _attacks(pattern: str) -> Iterator[str]:
    own = [mark for mark in dict.fromkeys(pattern) if mark not in MAGIC and ord(mark) < 256]
    marks = list(dict.fromkeys([*own[:6], *COMMON]))[:14]
    for one in marks:
        yield one * LENGTH + "\x01"
        for other in marks:
            if other != one:
                yield (one + other) * (LENGTH // 2) + "\x01"
    for word in re.findall(r"[^()\[\]{}?*+|^$.\\]{2,}", pattern)[:4]:
        for one in marks[:6]:
            yield word + one * LENGTH + "\x01"
            yield (word + one) * (LENGTH // (len(word) + 1)) + "\x01"


def _within(seconds: float, work: Callable[[], object]) -> float:
    """Return the processor time of the work; it is broken off when it takes too long."""

    def stop(*_: object) -> None:
        raise TooSlowError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    began = time.process_time()
    try:
        work()
    except TooSlowError:
        return float("inf")
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    return time.process_time() - began


def _use(place: str, pattern: re.Pattern[Any], text: str) -> object:
    given: Any = text[: NEVER_LONGER.get(place, LENGTH * 2)]
    if isinstance(pattern.pattern, bytes):
        given = given.encode("latin-1", "replace")
    if place in AS_A_WHOLE:
        return pattern.fullmatch(given)
    if place in AT_THE_BEGINNING:
        return pattern.match(given)
    return [0 for _ in pattern.finditer(given)]


def test_every_expression_is_linear_against_its_own_characters() -> None:
    """One by one; whoever adds a slow one reads its name here."""
    patterns = _patterns()
    assert len(patterns) > 60
    named = AT_THE_BEGINNING | AS_A_WHOLE | set(NEVER_LONGER)
    assert named <= set(patterns), "these are gone; take them out of the lists"
    slow = []
    for place, pattern in patterns.items():
        text = pattern.pattern
        source = text.decode("latin-1") if isinstance(text, bytes) else text
        for attack in _attacks(source):
            spent = _within(
                LIMIT_SECONDS,
                lambda p=place, e=pattern, a=attack: _use(p, e, a),  # type: ignore[misc]
            )
            if spent > LIMIT_SECONDS:
                slow.append((place, attack[:20]))
                break
    assert slow == []


def test_the_test_finds_slow_ones() -> None:
    """Quadratic and exponential ones are broken off."""
    for source, attack in ((r"\s+$", " " * 60_000 + "x"), (r"(a|a)*b", "a" * 40)):
        pattern = re.compile(source)
        assert _within(LIMIT_SECONDS, lambda p=pattern, a=attack: p.search(a)) == float("inf")  # type: ignore[misc]


def _said(message: str) -> None:
    body = {"error": {"message": message, "code": "x"}}
    failure(400, body, provider="p", secret="s", wait=None)


@pytest.mark.parametrize(
    "work",
    [
        lambda: list(_tokens('\\"' * LONG)),
        lambda: list(_tokens('{"a":"' + '\\"' * LONG)),
        lambda: _without_tags("<script" * LONG),
        lambda: _without_tags("<style>" * LONG + "</style"),
        lambda: _without_tags("<" * LONG),
        lambda: _without_subset(b"<!DOCTYPE[" * LONG),
        lambda: _without_subset(b"<!DOCTYPE svg [" + b"] " * LONG),
        lambda: list(_high_lines((b"a" * LONG + b"\n\xff\n") * 4, 0)),
        lambda: list(_high_lines(b"\xff\n" * LONG, 0)),
        lambda: _said("model" * LONG),
        lambda: _said("api key " * LONG),
    ],
)
def test_long_hostile_inputs_take_seconds_at_most(work: Callable[[], object]) -> None:
    """Where the expression alone would have looked back over and over."""
    assert _within(LONG_LIMIT_SECONDS, work) < LONG_LIMIT_SECONDS
