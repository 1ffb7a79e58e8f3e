"""Slow clients: how long does the next client wait beside 10,000 open connections, 1,000 of which send a byte of their head
a second?

And what becomes of the slow ones?"""

import resource
import socket
import statistics
import time
from contextlib import suppress

from harness import Servers, one_worker, scratch, thrum
from result import Result, spread

OPEN, SLOW = 10_000, 1_000
TRICKLE = b"GET / HTTP/1.1\r\nHost: a\r\nX-Slow: "

NEEDS = ["taskset"]
# Its one run lasts as long as the deadline of a head, and a little more.
ROUNDS, SECONDS = 1, 14
PROGRAMS = {"thrum": "$ thrum serve site --listen 127.0.0.1:PORT --log off --quiet"}
MEANING = """A connection costs what its task and the kernel keep, and nothing while it is idle: it holds no buffer. A head that
does not come within its deadline is told 408 and closed, so that trickling bytes keeps nobody else waiting."""


def ask(port: int) -> float:
    """One request on a connection of its own, in milliseconds."""
    begin = time.monotonic()
    with socket.create_connection(("127.0.0.1", port), 5) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        if not client.recv(65536).startswith(b"HTTP/1.1 200"):
            raise SystemExit("the next client is not answered")
    return (time.monotonic() - begin) * 1000


def run(options):
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    count = min(OPEN, hard - 100)
    result = Result()
    table = result.table(["what", "figure"])
    with scratch() as folder, Servers() as servers:
        serve = thrum("thrum", "serve", folder / "site", "--log", "off", "--quiet")
        servers.add("thrum", lambda port: [*serve, "--listen", f"127.0.0.1:{port}"], one_worker())
        target = servers.running[0]
        memory = lambda: int(next(line for line in open(f"/proc/{target.process.pid}/status") if line.startswith("VmRSS")).split()[1]) / 1024
        empty = memory()
        crowd = [servers.enter_context(socket.create_connection(("127.0.0.1", target.port))) for _ in range(count)]
        slow = crowd[:SLOW]
        timed_out, waits, cpu = set(), [], target.cpu_seconds()[0]
        full = memory()
        begin = time.monotonic()
        for second in range(14):
            for index, client in enumerate(slow):
                if index not in timed_out:
                    with suppress(OSError):
                        client.send(TRICKLE[second : second + 1] or b"x")
            while time.monotonic() < begin + second + 1:
                waits.append(ask(target.port))
                time.sleep(0.02)
            for index, client in enumerate(slow):
                with suppress(BlockingIOError, OSError):
                    client.setblocking(False)
                    if index not in timed_out and client.recv(4096).startswith(b"HTTP/1.1 408"):
                        timed_out.add(index)
        cpu = target.cpu_seconds()[0] - cpu
    table.row("connections open", f"{count:,}")
    table.row("memory, empty and with them, MB", f"{empty:.1f}, {full:.1f}")
    table.row("memory a connection, bytes", f"{(full - empty) * 1024 * 1024 / count:,.0f}")
    table.row("the next client's wait, ms", spread(waits))
    p99 = statistics.quantiles(waits, n=100)[98]
    table.row("of it the 99th percentile, ms", f"{p99:.2f}")
    table.row("slow ones told 408", f"{len(timed_out):,} of {len(slow):,}")
    table.row("CPU of the server, s in 14", f"{cpu:.2f}")
    result.raw = {"waits_ms": waits, "timed_out": len(timed_out)}
    result.at_most("the next client's wait, 99th percentile in ms", [p99], 10)
    result.at_least("slow ones timed out", [len(timed_out)], len(slow))
    title = "The next client's wait beside 10,000 connections, 1,000 of them slow"
    shown = {"thrum, median": [statistics.median(waits)], "thrum, 99th percentile": [p99], "thrum, the longest": [max(waits)]}
    result.bar_chart(title, "milliseconds, less is better", shown)
    return result
