"""`keys rotate-secrets` on a data directory: the whole way from one secret key to the next."""

import asyncio
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from agentscope.app.settings import Settings
from agentscope.cli.connection import connected
from agentscope.cli.entry import main

OLD, NEW = "the-old-key-of-this-test", "the-new-key-of-this-test"
SECRET = "sk-of-the-rotation-test"


def rotate(folder: Path, key: str) -> Result:
    """Run the command with these keys in the environment."""
    arguments = ["keys", "rotate-secrets", "--data-dir", str(folder)]
    return CliRunner().invoke(main, arguments, env={"AGENTSCOPE_SECRET_KEY": key})


def call(folder: Path, key: str, method: str, path: str, **options: Any) -> Any:
    """Call a service of the data directory that runs with these keys."""

    async def work() -> Any:
        given = Settings.from_environment({"AGENTSCOPE_SECRET_KEY": key}, data_dir=folder)
        async with connected(given, files=True) as client:
            return await client.call(method, path, **options)

    return asyncio.run(work())


def test_the_old_key_can_go_after_a_rotation(tmp_path: Path) -> None:
    """Newest first; twice is harmless; a missing key is told and nothing is lost."""
    data = {"type": "openai_credential", "api_key": SECRET, "base_url": "http://127.0.0.1:9/v1"}
    made = call(tmp_path, OLD, "POST", "/credential/", json={"data": data})["credential_id"]
    first = rotate(tmp_path, f"{NEW},{OLD}")
    assert first.exit_code == 0, first.output
    assert "1 secrets checked, 1 sealed with the newest key." in first.output
    second = rotate(tmp_path, f"{NEW} {OLD}")
    assert "1 secrets checked, 0 sealed with the newest key." in second.output
    edited = {"data": {"type": "openai_credential", "name": "Still open"}}
    view = call(tmp_path, NEW, "PATCH", f"/credential/{made}", json=edited)
    assert view["data"]["name"] == "Still open"
    assert SECRET not in str(view)
    wrong = rotate(tmp_path, OLD)
    assert wrong.exit_code == 1
    assert "another secret key" in wrong.output
