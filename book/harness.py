"""Starting servers, loading them, and reading what they cost."""

import contextlib
import math
import os
import re
import resource
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from peers import BOOK

TARGET = Path(os.environ.get("CARGO_TARGET_DIR", BOOK.parent / "target")) / "release"
TICK = os.sysconf("SC_CLK_TCK")
# Loads run on the second core.
LOADER_CORE = str(min(1, os.cpu_count() - 1))
LOADER = ["taskset", "-c", LOADER_CORE]
TWO_CORES = f"0,{LOADER_CORE}"
# TLS is what peers/tls.cnf says, for all clients that are OpenSSL's.
CLIENT_TLS = {**os.environ, "OPENSSL_CONF": str(BOOK / "peers" / "tls.cnf")}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@dataclass
class Server:
    """A server that runs."""

    name: str
    process: subprocess.Popen
    port: int
    scheme: str

    def pids(self) -> list[int]:
        """The process and those below it: nginx serves in a worker."""
        return list(family(self.process.pid))

    def cpu_seconds(self) -> tuple[float, float]:
        """CPU time so far: all of it, and what was spent in the program itself."""
        total = user = 0
        for pid in self.pids():
            with contextlib.suppress(FileNotFoundError):  # it has just ended
                fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
                user += int(fields[11])
                total += int(fields[11]) + int(fields[12])
        return total / TICK, user / TICK

    def url(self, path: str = "/") -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}{path}"


def family(pid: int) -> Iterator[int]:
    """A process and all below it."""
    yield pid
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):  # the thread has just ended
            for child in children.read_text().split():
                yield from family(int(child))


@contextlib.contextmanager
def server(name: str, command: list, port: int, env: dict | None = None, scheme: str = "http", cores: str = "0"):
    """Runs a server until the block ends, on the first core if no others are named."""
    process = subprocess.Popen(
        ["taskset", "-c", cores, *map(str, command)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **(env or {})},
        # Apache and lighttpd end their whole process group, which would be this one.
        start_new_session=True,
    )
    try:
        for _ in range(200):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.2):
                break
            if process.poll() is not None:
                raise SystemExit(f"{name} does not start: {' '.join(map(str, command))}")
            time.sleep(0.05)
        yield Server(name, process, port, scheme)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Servers(contextlib.ExitStack):
    """Servers that run until the block ends."""

    def __init__(self):
        super().__init__()
        self.running: list[Server] = []

    def add(self, name: str, command: Callable[[int], list], env: dict | None = None, **more):
        """Starts one with the command that it has for a free port."""
        port = free_port()
        self.running.append(self.enter_context(server(name, command(port), port, env, **more)))


def thrum(program: str, *arguments) -> list:
    return [TARGET / program, *arguments]


def workers(count: int) -> dict:
    return {"THRUM_WORKERS": str(count)}


def one_worker() -> dict:
    return workers(1)


@contextlib.contextmanager
def scratch():
    """A folder with a site of one 612-byte page, as nginx's own welcome page has."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "site").mkdir()
        (folder / "site" / "index.html").write_text("x" * 612)
        yield folder


@dataclass
class Load:
    """What a load saw, and what it cost the server, in microseconds of CPU a request. Not all loads tell the longest waits."""

    rate: float
    p99_ms: float | None
    cpu_us: float
    user_us: float

    @property
    def system_us(self) -> float:
        return self.cpu_us - self.user_us

    @property
    def per_cpu_second(self) -> float:
        """Requests a second of the server's CPU time: what it could answer if the load were not the slower one."""
        return 1e6 / self.cpu_us


def milliseconds(text: str) -> float:
    number, unit = re.fullmatch(r"([\d.]+)(us|ms|s|m)", text).groups()
    return float(number) * {"us": 0.001, "ms": 1, "s": 1000, "m": 60000}[unit]


def load(
    target: Server,
    path: str,
    connections: int,
    seconds: float,
    script: str | None = None,
    may_starve: bool = False,
    arguments: list[str] | None = None,
    cores: str = LOADER_CORE,
    close: bool = False,
) -> Load:
    """Loads a server with wrk, from the second core if no others are named, with a script and its arguments. With `close`
    each request has a connection of its own. A server that answers nothing is an error, unless it may starve."""
    threads = len(cores.split(","))
    command = ["taskset", "-c", cores, "wrk", f"-t{threads}", f"-c{connections}", f"-d{seconds}s", "--latency"]
    if script:
        command += ["-s", BOOK / "peers" / script]
    if close:
        command += ["-H", "Connection: close"]
    command += [target.url(path), *(["--", *arguments] if arguments else [])]
    before = target.cpu_seconds()
    output = subprocess.run(command, capture_output=True, text=True, check=True, env=CLIENT_TLS).stdout
    after = target.cpu_seconds()
    requests = int(re.search(r"(\d+) requests in", output)[1])
    if requests == 0 and may_starve:
        return Load(rate=0, p99_ms=math.inf, cpu_us=math.inf, user_us=math.inf)
    if "Non-2xx" in output or requests == 0:
        raise SystemExit(f"{target.name} does not answer as it should:\n{output}")
    return Load(
        rate=float(re.search(r"Requests/sec:\s+([\d.]+)", output)[1]),
        # wrk says 0 if it has seen none, as in bursts that are answered in pieces.
        p99_ms=milliseconds(re.search(r"^\s+99%\s+(\S+)", output, re.MULTILINE)[1]) or None,
        cpu_us=(after[0] - before[0]) / requests * 1e6,
        user_us=(after[1] - before[1]) / requests * 1e6,
    )


def in_turns(servers: list[Server], options, measure) -> dict[str, list]:
    """Measures each server once a round: A B C A B C ..."""
    for target in servers:
        measure(target)  # a warm-up that does not count
    results = {target.name: [] for target in servers}
    for _ in range(options.rounds):
        for target in servers:
            results[target.name].append(measure(target))
    return results


@dataclass
class Run:
    """What one run of a program printed that ends by itself, and the CPU time that it took."""

    output: str
    cpu_s: float
    user_s: float

    def figure(self, words: str = "") -> float:
        """The number behind the words that its line begins with."""
        return float(re.search(rf"^{words}\s*([\d.]+)", self.output, re.MULTILINE)[1])

    def rate(self) -> float:
        """The last number of MB/s."""
        return float(re.findall(r"([\d.]+) MB/s", self.output)[-1])


def run_program(command: list) -> Run:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, text=True, check=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    user = after.ru_utime - before.ru_utime
    return Run(output, user + after.ru_stime - before.ru_stime, user)


def peak_memory(command: list) -> float:
    """The most memory that a program had at once, in MB. What the kernel says when it has ended will not do: that includes
    what this process had when it started it."""
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        if said := re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{process.pid}/status").read_text()):
            peak = max(peak, int(said[1]))
        time.sleep(0.001)
    if process.returncode != 0 or peak == 0:
        raise SystemExit(f"failed: {' '.join(map(str, command))}")
    return peak * 1024 / 1e6


def programs_in_turns(programs: dict[str, list], options) -> dict[str, list[Run]]:
    """Runs each program once a round."""
    results = {name: [] for name in programs}
    for _ in range(options.rounds):
        for name, command in programs.items():
            results[name].append(run_program(command))
    return results


def fastest_in_turns(programs: dict[str, list], options, runs: int = 5) -> dict[str, list[Run]]:
    """The fastest of some runs each round, in turns, for programs so short that an interruption is much of their time.

    The fastest is the one that says the most MB/s."""
    results = {name: [] for name in programs}
    for _ in range(options.rounds):
        turns = [{name: run_program(command) for name, command in programs.items()} for _ in range(runs)]
        for name in programs:
            results[name].append(max((turn[name] for turn in turns), key=Run.rate))
    return results
