"""CGI: a program in C is started for each request, and says hello.

16 connections, one core: that of the server, and of the programs that it starts."""

import os
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from harness import build, compare, free_port, in_turns, load, missing, one_worker, scratch, server, spread, thrum
from harness import Result
from web import apache, lighttpd

NEEDS = ["taskset", "wrk", "cc"]
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


def run(options):
    hello = build("hello_cgi.c")
    with scratch() as folder, ExitStack() as stack:
        programs = folder / "cgi-bin"
        programs.mkdir()
        (programs / "hello.cgi").write_bytes(Path(hello).read_bytes())
        (programs / "hello.cgi").chmod(0o755)
        servers = []

        def add(name, command, port, env=None):
            servers.append(stack.enter_context(server(name, command, port, env)))

        port = free_port()
        (folder / "thrum.conf").write_text(f"http://127.0.0.1:{port} {{\n    /cgi-bin/ => {programs}\n}}\n")
        add("thrum", thrum("thrum", "run", folder / "thrum.conf"), port, one_worker())
        if not missing("lighttpd"):
            port = free_port()
            add("lighttpd", lighttpd(folder, port, programs=programs), port)
        if not missing("apache2"):
            for name, module in [("apache, cgid", "cgid"), ("apache, cgi", "cgi")]:
                port = free_port()
                add(name, apache(folder, port, programs, module), port)
        for peer in missing("lighttpd", "apache2"):
            print(f"skipped: {peer} (not installed)")
        results = in_turns(servers, options, lambda target: measure(target, options))
    table = Result(["server", "requests/s", "CPU a request, us", "p99, ms"])
    for name, seen in results.items():
        table.row(
            name,
            spread([one.rate for one in seen], 0),
            spread([one.cpu_us for one in seen], 0),
            spread([one.p99_ms for one in seen]),
        )
        table.raw[name] = [vars(one) for one in seen]
    for peer in ["lighttpd", "apache, cgid", "apache, cgi"]:
        compare(table, results, "requests/s", "thrum", peer, 1.3, least=True, of="rate")
    return table
