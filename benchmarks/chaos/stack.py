"""Starts, kills and freezes the processes under test, and the servers they need."""

import asyncio
import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from agentscope.app.running import operator_key
from agentscope.credential.sealing import SecretBox
from agentscope.testing.servers import Server
from benchmarks.chaos.proxy import Proxy

SECRET_KEY = "chaos-secret-key-chaos-secret-key"
ROOT = Path(__file__).parents[2]


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass(slots=True)
class Process:
    """One process that can be started again."""

    name: str
    command: list[str]
    environment: dict[str, str]
    log: Path
    popen: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it in a session of its own."""
        with self.log.open("ab") as out:
            self.popen = subprocess.Popen(
                self.command,
                env={**os.environ, **self.environment},
                stdout=out,
                stderr=out,
                cwd=ROOT,
                start_new_session=True,
            )

    def signal(self, number: int) -> None:
        """Send a signal to it and its children, if it is alive."""
        if self.popen is not None and self.popen.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.popen.pid, number)

    @property
    def ended(self) -> bool:
        """Whether it ended although nobody ended it."""
        return self.popen is not None and self.popen.poll() is not None

    def stop(self) -> None:
        """End it for good."""
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGKILL)
        if self.popen is not None:
            self.popen.wait()


@dataclass(slots=True)
class Stack:
    """API, workers and provider of one back end."""

    backend: str
    work: Path
    servers: dict[str, tuple[Server, str]] = field(default_factory=dict)
    """Servers by the variable that holds their address; `{port}` in it is the proxy's."""
    workers: int = 3
    port: int = field(default_factory=free_port)
    provider_port: int = field(default_factory=free_port)
    processes: dict[str, Process] = field(default_factory=dict)
    proxies: dict[str, Proxy] = field(default_factory=dict)
    restarts: int = 0  # of processes that ended by themselves, as a supervisor would

    @property
    def base_url(self) -> str:
        """Where the API listens."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def operator_key(self) -> str:
        """The key of operator routes, made from the secret key that all processes share."""
        return operator_key(SecretBox.from_text(SECRET_KEY))

    @property
    def provider_url(self) -> str:
        """Where the embeddings endpoint listens."""
        return f"http://127.0.0.1:{self.provider_port}"

    async def start(self) -> None:
        """Start everything and wait until the API answers."""
        for name, (server, _) in self.servers.items():
            self.proxies[name] = Proxy(server.port)
            await self.proxies[name].start()
        self.add(
            "provider",
            ["-m", "benchmarks.chaos.provider", "--port", str(self.provider_port)],
        )
        if self.backend == "embedded":
            self.add("api", ["-m", "agentscope.cli", "serve", "--port", str(self.port)])
        else:
            address = ["--host", "127.0.0.1", "--port", str(self.port), "--log-level", "warning"]
            self.add("api", ["-m", "uvicorn", "benchmarks.chaos.wiring:app", "--factory", *address])
            for number in range(self.workers):
                self.add(f"worker{number}", ["-m", "agentscope.app.rag.index_worker"])
        await self.healthy()

    def add(self, name: str, arguments: list[str]) -> None:
        """Start one Python process."""
        environment = {
            "CHAOS_BACKEND": self.backend,
            "CHAOS_WORK": str(self.work),
            "AGENTSCOPE_SECRET_KEY": SECRET_KEY,
            "AGENTSCOPE_WORKER_BOOTSTRAP": "benchmarks.chaos.wiring:bootstrap",
            "DATA_DIR": str(self.work / "data"),
            "AGENTSCOPE_LEASE_TTL_SECONDS": "6",
            "AGENTSCOPE_HEARTBEAT_SECONDS": "2",
            "AGENTSCOPE_MARGIN_SECONDS": "1",
            "AGENTSCOPE_REQUEST_TIMEOUT_SECONDS": "3",
            "AGENTSCOPE_SWEEP_INTERVAL_SECONDS": "1",
            "AGENTSCOPE_GRACE_EXTRA_SECONDS": "4",
            **{
                name: address.format(port=self.proxies[name].port)
                for name, (_, address) in self.servers.items()
            },
        }
        process = Process(
            name, [sys.executable, *arguments], environment, self.work / f"{name}.log"
        )
        process.start()
        self.processes[name] = process

    async def healthy(self, seconds: float = 60) -> None:
        """Wait until the API says that it is ready."""
        deadline = asyncio.get_running_loop().time() + seconds
        said = "nothing"
        async with httpx.AsyncClient(base_url=self.base_url, trust_env=False) as http:
            while asyncio.get_running_loop().time() < deadline:
                with contextlib.suppress(httpx.HTTPError):
                    answer = await http.get("/health", timeout=5)
                    if answer.status_code == 200:
                        return
                    said = answer.text
                await asyncio.sleep(0.2)
        raise TimeoutError(f"the API did not become healthy: {said}")

    async def hurt(self, choice: random.Random) -> str:
        """Do one harmful thing to one process, undo it later, and say what it was."""
        self.supervise()
        acts = [self._kill, self._kill, self._freeze, self._term, self._upset_provider]
        if self.servers:
            acts += [self._cut, self._slow, self._outage]
        return await choice.choice(acts)(choice)

    def supervise(self) -> None:
        """Start again what ended by itself."""
        for process in self.processes.values():
            if process.ended:
                self.restarts += 1
                process.start()

    def _victim(self, choice: random.Random) -> Process:
        return choice.choice(
            [self.processes[name] for name in self.processes if name != "provider"]
        )

    async def _kill(self, choice: random.Random) -> str:
        return await self._end(self._victim(choice), signal.SIGKILL, choice)

    async def _term(self, choice: random.Random) -> str:
        return await self._end(self._victim(choice), signal.SIGTERM, choice)

    async def _end(self, process: Process, number: int, choice: random.Random) -> str:
        process.signal(number)
        await asyncio.sleep(choice.uniform(0.5, 4))
        process.stop()
        process.start()
        return f"{signal.Signals(number).name} {process.name}"

    async def _freeze(self, choice: random.Random) -> str:
        process = self._victim(choice)
        process.signal(signal.SIGSTOP)
        await asyncio.sleep(choice.uniform(1, 14))  # beyond two leases at most
        process.signal(signal.SIGCONT)
        return f"freeze {process.name}"

    async def _upset_provider(self, choice: random.Random) -> str:
        mode = choice.choice(["429", "500", "hang"])
        await self.provider(mode)
        await asyncio.sleep(choice.uniform(1, 5))
        await self.provider("ok")
        return f"provider {mode}"

    async def _cut(self, choice: random.Random) -> str:
        """Drop all connections to one server, and refuse new ones for a while."""
        name = choice.choice(list(self.proxies))
        proxy = self.proxies[name]
        proxy.refuses = True
        proxy.cut()
        await asyncio.sleep(choice.uniform(0, 5))
        proxy.refuses = False
        return f"cut {name}"

    async def _slow(self, choice: random.Random) -> str:
        """Delay all that goes to and from one server."""
        name = choice.choice(list(self.proxies))
        self.proxies[name].delay = choice.uniform(0.05, 0.5)
        await asyncio.sleep(choice.uniform(1, 5))
        self.proxies[name].delay = 0.0
        return f"slow {name}"

    async def _outage(self, choice: random.Random) -> str:
        """Kill one server with the power cord; start it again later."""
        name = choice.choice(list(self.servers))
        server, _ = self.servers[name]
        await asyncio.to_thread(server.kill)
        await asyncio.sleep(choice.uniform(0.5, 10))
        await asyncio.to_thread(server.start)
        return f"outage {name}"

    async def provider(self, mode: str) -> None:
        """Change the mood of the embeddings endpoint."""
        async with httpx.AsyncClient(trust_env=False) as http:
            with contextlib.suppress(httpx.HTTPError):
                await http.post(f"{self.provider_url}/faults", json={"mode": mode}, timeout=5)

    async def close(self) -> None:
        """Drop what stands between the processes and their servers."""
        for proxy in self.proxies.values():
            await proxy.stop()

    def stop(self) -> None:
        """End all processes."""
        for process in self.processes.values():
            process.stop()
