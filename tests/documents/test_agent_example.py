"""The example agent answers with the help of a scripted chat endpoint."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

EXAMPLE = Path(__file__).parents[2] / "examples" / "agent.py"


class Chat(BaseHTTPRequestHandler):
    """Asks the tool it is offered once, then answers with what the tool said."""

    asked: list[dict[str, Any]]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append(body)
        results = [message for message in body["messages"] if message["role"] == "tool"]
        if results:
            message: dict[str, Any] = {
                "role": "assistant",
                "content": f"I read: {results[-1]['content']}",
            }
        else:
            function = body["tools"][0]["function"]
            arguments = json.dumps({"query": "days of annual leave"})
            call = {"id": "one", "type": "function", "function": {
                "name": function["name"], "arguments": arguments,
            }}  # fmt: skip
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
        answer = json.dumps({"choices": [{"message": message}]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *arguments: Any) -> None:
        del arguments


@contextmanager
def chat_endpoint() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Serve the script above and show what it was asked."""
    asked: list[dict[str, Any]] = []
    handler = type("ScriptedChat", (Chat,), {"asked": asked})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1", asked
        finally:
            server.shutdown()
            thread.join()


def test_the_agent_searches_and_answers(tmp_path: Path) -> None:
    """The tool call of the model reaches the files, and what they say reaches the model."""
    leave = tmp_path / "leave.txt"
    leave.write_text("Annual leave is 25 days. Ask your manager early.")
    with chat_endpoint() as (url, asked):
        done = subprocess.run(
            [sys.executable, str(EXAMPLE), "How many days off do I get?", str(leave)],
            env={**os.environ, "CHAT_URL": url, "NO_PROXY": "127.0.0.1"},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
    assert done.returncode == 0, done.stderr
    assert "25 days" in done.stdout
    assert len(asked) == 2
    assert asked[0]["tools"][0]["function"]["name"] == "search_knowledge"
