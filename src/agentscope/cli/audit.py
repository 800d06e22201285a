"""`agentscope-rag audit`: does everything that is kept fit together?"""

import json
import sys
from typing import Any

import click
import httpx

from agentscope.app.settings import Settings
from agentscope.cli.connection import Client, connection_options, operator_headers, run_command

WAIT_SECONDS = 600.0


@click.command()
@click.option("--wait", is_flag=True, help="First wait until nothing is unfinished.")
@click.option(
    "--timeout",
    type=float,
    default=WAIT_SECONDS,
    show_default=True,
    help="Seconds to wait at most.",
)
@click.option("--repair", is_flag=True, help="Mend what is certain.")
@click.option("--deep", is_flag=True, help="Read every chunk, too.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@connection_options
def command(
    wait: bool, timeout: float, repair: bool, deep: bool, as_json: bool, **given: Any
) -> None:
    """Compare records, vectors and original files; exit status 1 if something is wrong."""
    params = {"repair": repair, "deep": deep, "wait_seconds": timeout if wait else 0}

    async def work(client: Client, settings: Settings) -> dict[str, Any]:
        report: dict[str, Any] = await client.call(
            "POST",
            "/operator/audit",
            params=params,
            headers=operator_headers(settings),
            timeout=httpx.Timeout(timeout + 600),
        )
        return report

    report = run_command(given, work)
    if as_json:
        click.echo(json.dumps(report, ensure_ascii=False, indent=1))
    else:
        _show(report)
    sys.exit(0 if report["clean"] else 1)


def _show(report: dict[str, Any]) -> None:
    counts = ", ".join(f"{count} {name}" for name, count in sorted(report["counts"].items()))
    click.echo(f"Looked at {counts or 'nothing'}.")
    for kind, count in sorted(report["unfinished"].items()):
        click.echo(f"Not finished yet: {count} {kind}")
    for finding in report["findings"]:
        subject = finding["subject"]
        click.echo(
            f"{finding['invariant']}: {subject['kind']} {subject['id']}: {finding['message']}"
        )
    for sentence in report["repaired"]:
        click.echo(f"Mended: {sentence}")
    if report["waiting"]:
        click.echo(f"{report['waiting']} repairs wait until the thing is a day old.")
    click.echo("Nothing is wrong." if report["clean"] else f"{report['total']} findings.")
