"""Starting servers, loading them, and reading what they cost."""

import contextlib
import math
import os
import re
import resource
import shutil
import signal
import socket
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

BOOK = Path(__file__).resolve().parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", BOOK.parent / "target")) / "release"
TICK = os.sysconf("SC_CLK_TCK")
# Loads run on the second core.
LOADER_CORE = min(1, os.cpu_count() - 1)
LOADER = ["taskset", "-c", str(LOADER_CORE)]
# TLS is what peers/tls.cnf says, for all clients that are OpenSSL's.
CLIENT_TLS = {**os.environ, "OPENSSL_CONF": str(BOOK / "peers" / "tls.cnf")}


def missing(*programs: str) -> list[str]:
    return [program for program in programs if shutil.which(program) is None]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def build(source: str, *flags) -> Path | None:
    """Builds a peer's program, with more for its compiler; none if that is missing, or the crates that it uses."""
    path = BOOK / "peers" / source
    out = BOOK / "out"
    out.mkdir(exist_ok=True)
    binary = out / f"{path.stem}-{path.suffix[1:]}"
    if path.suffix == ".rs":
        return build_crate(path, out / "rs")
    compilers = {
        ".c": ["cc", "-O2", "-o", binary, path],
        ".go": ["go", "build", "-o", binary, path],
        ".hs": ["ghc", "-O2", "-threaded", "-rtsopts", "-v0", "-outputdir", out / "hs", "-o", binary, path],
    }
    command = compilers[path.suffix]
    if missing(command[0]):
        print(f"skipped: {source} ({command[0]} is not installed)")
        return None
    subprocess.run([*command, *flags], check=True, cwd=BOOK / "peers")
    return binary


def build_haskell(source: str, package: str) -> Path | None:
    """Builds a Haskell peer; none if ghc is missing, or the package that it uses."""
    if not missing("ghc") and subprocess.run(["ghc-pkg", "field", package, "version"], capture_output=True).returncode != 0:
        print(f"skipped: {source} ({package} is not installed)")
        return None
    return build(source)


def build_crate(source: Path, target: Path) -> Path | None:
    """Builds a program of a cargo package, `PACKAGE/src/bin/PROGRAM.rs`; none if its crates cannot be had."""
    package = source.parents[2]
    fetched = subprocess.run(["cargo", "fetch", "--quiet", "--locked"], cwd=package, stderr=subprocess.DEVNULL)
    if fetched.returncode != 0:
        print(f"skipped: {package.name} {source.stem} (its crates cannot be fetched)")
        return None
    command = ["cargo", "build", "--release", "--quiet", "--locked", "--target-dir", target, "--bin", source.stem]
    subprocess.run(command, check=True, cwd=package)
    return target / "release" / source.stem


def tokio(program: str) -> Path | None:
    return build(f"tokio/src/bin/{program}.rs")


@dataclass
class Server:
    """A server that runs on the first core."""

    name: str
    process: subprocess.Popen
    port: int
    scheme: str

    def pids(self) -> list[int]:
        """The process and its children: nginx serves in a worker."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return [self.process.pid, *map(int, children)]

    def cpu_seconds(self) -> tuple[float, float]:
        """CPU time so far: all of it, and what was spent in the program itself."""
        total = user = 0
        for pid in self.pids():
            fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            user += int(fields[11])
            total += int(fields[11]) + int(fields[12])
        return total / TICK, user / TICK

    def url(self, path: str = "/") -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}{path}"


@contextlib.contextmanager
def server(name: str, command: list, port: int, env: dict | None = None, scheme: str = "http", core: int = 0):
    """Runs a server until the block ends, on the first core if no other is named."""
    process = subprocess.Popen(
        ["taskset", "-c", str(core), *map(str, command)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **(env or {})},
        # Apache ends its whole process group, which would be this one.
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


def thrum(program: str, *arguments) -> list:
    return [TARGET / program, *arguments]


def one_worker() -> dict:
    return {"THRUM_WORKERS": "1"}


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
) -> Load:
    """Loads a server from the second core, with a script and its arguments. One that answers nothing is an error, unless it
    may starve."""
    command = [*LOADER, "wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency"]
    if script:
        command += ["-s", BOOK / "peers" / script]
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
        p99_ms=milliseconds(re.search(r"^\s+99%\s+(\S+)", output, re.MULTILINE)[1]),
        cpu_us=(after[0] - before[0]) / requests * 1e6,
        user_us=(after[1] - before[1]) / requests * 1e6,
    )


def spread(values: list[float], digits: int = 2) -> str:
    """The median, and the least and most in brackets; "none" if all are infinite, as the wait of a client never answered."""
    low, middle, high = min(values), statistics.median(values), max(values)
    if math.isinf(low):
        return "none"
    return f"{middle:,.{digits}f} [{low:,.{digits}f} .. {high:,.{digits}f}]"


@dataclass
class Result:
    """A chapter's table and the bars that thrum is held to."""

    columns: list[str]
    rows: list[list[str]] = field(default_factory=list)
    bars: list[tuple[str, list[float], str, float]] = field(default_factory=list)
    raw: dict = field(default_factory=dict)

    def row(self, *cells: str):
        self.rows.append(list(cells))

    def at_most(self, what: str, measured: list[float], bar: float):
        """The median of what was measured, a figure a round, is at most the bar."""
        self.bars.append((what, measured, "at most", bar))

    def at_least(self, what: str, measured: list[float], bar: float):
        self.bars.append((what, measured, "at least", bar))

    @staticmethod
    def holds(bar) -> bool:
        _, measured, relation, limit = bar
        middle = statistics.median(measured)
        return middle <= limit if relation == "at most" else middle >= limit

    def failed(self) -> list[str]:
        return [bar[0] for bar in self.bars if not self.holds(bar)]

    def show(self):
        widths = [max(len(row[i]) for row in [self.columns, *self.rows]) for i in range(len(self.columns))]
        line = lambda cells: "| " + " | ".join(cell.ljust(width) for cell, width in zip(cells, widths)) + " |"
        print(line(self.columns))
        print("|" + "|".join("-" * (width + 2) for width in widths) + "|")
        for row in self.rows:
            print(line(row))
        for bar in self.bars:
            what, measured, relation, limit = bar
            print(f"{'holds' if self.holds(bar) else 'MISSED'}: {what}: {spread(measured)}, {relation} {limit:g}")

    def figures(self) -> dict:
        bars = [dict(zip(("what", "measured", "relation", "bar"), bar)) for bar in self.bars]
        return {"columns": self.columns, "rows": self.rows, "bars": bars, "raw": self.raw}


def ratios(mine: list[float], other: list[float]) -> list[float]:
    """Round by round, so that a machine that drifts does not matter."""
    return [a / b for a, b in zip(mine, other)]


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


def cost_table(results: dict[str, list[Load]], who: str = "server") -> Result:
    table = Result([who, "CPU a request, us", "of it user", "of it system", "requests/s", "p99, ms"])
    for name, loads in results.items():
        table.row(
            name,
            spread([load.cpu_us for load in loads]),
            spread([load.user_us for load in loads]),
            spread([load.system_us for load in loads]),
            spread([load.rate for load in loads], 0),
            "-" if loads[0].p99_ms is None else spread([load.p99_ms for load in loads]),
        )
        table.raw[name] = [vars(load) for load in loads]
    return table


def compare(table: Result, results, what: str, mine: str, other: str, bar: float, least=False, of="cpu_us"):
    """Holds a ratio of two servers to a bar, if both were measured."""
    if mine not in results or other not in results:
        return
    values = ratios([getattr(load, of) for load in results[mine]], [getattr(load, of) for load in results[other]])
    add = table.at_least if least else table.at_most
    add(f"{what}, {mine} to {other}", values, bar)
