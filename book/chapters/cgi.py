"""CGI: what does it cost to start a program for each request?

The program is in C and says hello. 16 connections, one core: that of the server, and of the programs that it starts."""

import os
from dataclasses import dataclass
from pathlib import Path

from harness import Servers, in_turns, load, one_worker, scratch, thrum
from peers import build, installed
from result import Result, compare, series, spread
from web import apache, lighttpd

NEEDS = ["taskset", "wrk", "cc"]
ROUNDS, SECONDS = 3, 2
PROGRAMS = {
    "the program": "book/peers/hello_cgi.c",
    "thrum": "book/chapters/cgi.py#thrum_configuration",
    "lighttpd": "book/web.py#lighttpd",
    "apache": "book/web.py#apache",
}
MEANING = """Nearly all of it is the kernel's: a process is made, the program and its library are mapped, and all of it is taken down again.
What servers differ in is how a process is made (a copy of the server's memory map, or none), by whom, and what is done around it.
The CPU time is that of the whole core, with the programs."""


@dataclass
class Started:
    rate: float
    p99_ms: float
    cpu_us: float


def busy_seconds() -> float:
    """What the first core has worked so far, for whomever."""
    fields = next(line.split() for line in open("/proc/stat") if line.startswith("cpu0 "))
    user, nice, system, _idle, _wait, irq, softirq = map(int, fields[1:8])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def measure(target, options) -> Started:
    before = busy_seconds()
    seen = load(target, "/cgi-bin/hello.cgi", 16, options.seconds)
    busy = busy_seconds() - before
    return Started(seen.rate, seen.p99_ms, busy / (seen.rate * options.seconds) * 1e6)


def thrum_configuration(folder: Path, port: int, programs: Path) -> Path:
    configuration = folder / "thrum.conf"
    configuration.write_text(f"http://127.0.0.1:{port} {{\n    /cgi-bin/ => {programs}\n}}\n")
    return configuration


def run(options):
    hello = build("hello_cgi.c")
    with scratch() as folder, Servers() as servers:
        programs = folder / "cgi-bin"
        programs.mkdir()
        (programs / "hello.cgi").write_bytes(Path(hello).read_bytes())
        (programs / "hello.cgi").chmod(0o755)
        servers.add("thrum", lambda port: thrum("thrum", "run", thrum_configuration(folder, port, programs)), one_worker())
        if installed("lighttpd"):
            servers.add("lighttpd", lambda port: lighttpd(folder, port, programs=programs))
        if installed("apache2"):
            for module in ["cgid", "cgi"]:
                servers.add(f"apache, {module}", lambda port: apache(folder, port, programs, module))
        results = in_turns(servers.running, options, lambda target: measure(target, options))
    result = Result()
    table = result.table(["server", "requests/s", "CPU a request, us", "p99, ms"])
    for name, seen in results.items():
        table.row(
            name,
            spread([one.rate for one in seen], 0),
            spread([one.cpu_us for one in seen], 0),
            spread([one.p99_ms for one in seen]),
        )
        result.raw[name] = [vars(one) for one in seen]
    result.bar_chart("CGI: requests a second on one core", "requests a second, more is better", series(results, "rate"))
    for peer in ["lighttpd", "apache, cgid", "apache, cgi"]:
        compare(result, results, "requests/s", "thrum", peer, 1.3, least=True, of="rate")
    return result
