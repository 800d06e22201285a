"""One line on a terminal that tells how many bytes went through."""

import sys
from types import TracebackType
from typing import Self

import click

MEGABYTE = 1_000_000


class Transferred:
    """Shows megabytes, and the share if the total is known; nothing where nobody watches."""

    def __init__(self, verb: str, *, quiet: bool, total: int | None = None) -> None:
        self._verb = verb
        self._shown = not quiet and sys.stderr.isatty()
        self._total = total
        self._bytes = 0
        self._line = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._line:
            click.echo(err=True)

    def add(self, count: int) -> None:
        """Count bytes."""
        self._bytes += count
        if not self._shown:
            return
        line = f"{self._verb} {self._bytes / MEGABYTE:.1f} MB"
        if self._total:
            line += f" of {self._total / MEGABYTE:.1f} MB ({self._bytes / self._total:.0%})"
        if line != self._line:
            click.echo(f"\r{line}", nl=False, err=True)
            self._line = line
