"""A crowd: 10,000 open connections, 1,000 of them sending a byte of their head a second.

How long does the next client wait for its answer, and what becomes of the slow ones?"""

import contextlib
import resource
import socket
import statistics
import time

from harness import Result, free_port, one_worker, scratch, server, spread, thrum

OPEN, SLOW = 10_000, 1_000
TRICKLE = b"GET / HTTP/1.1\r\nHost: a\r\nX-Slow: "

NEEDS = ["taskset"]
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
    table = Result(["what", "figure"])
    with scratch() as folder, contextlib.ExitStack() as stack:
        port = free_port()
        command = thrum("thrum", "serve", folder / "site", "--listen", f"127.0.0.1:{port}", "--log", "off", "--quiet")
        target = stack.enter_context(server("thrum", command, port, one_worker()))
        memory = lambda: int(next(line for line in open(f"/proc/{target.process.pid}/status") if line.startswith("VmRSS")).split()[1]) / 1024
        empty = memory()
        crowd = [stack.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(count)]
        slow = crowd[:SLOW]
        timed_out, waits, cpu = set(), [], target.cpu_seconds()[0]
        full = memory()
        begin = time.monotonic()
        for second in range(14):
            for index, client in enumerate(slow):
                if index not in timed_out:
                    with contextlib.suppress(OSError):
                        client.send(TRICKLE[second : second + 1] or b"x")
            while time.monotonic() < begin + second + 1:
                waits.append(ask(port))
                time.sleep(0.02)
            for index, client in enumerate(slow):
                with contextlib.suppress(BlockingIOError, OSError):
                    client.setblocking(False)
                    if index not in timed_out and client.recv(4096).startswith(b"HTTP/1.1 408"):
                        timed_out.add(index)
        cpu = target.cpu_seconds()[0] - cpu
    table.row("connections open", f"{count:,}")
    table.row("memory, empty and with them, MB", f"{empty:.1f}, {full:.1f}")
    table.row("memory a connection, bytes", f"{(full - empty) * 1024 * 1024 / count:,.0f}")
    table.row("the next client's wait, ms", spread(waits))
    table.row("of it the 99th percentile, ms", f"{statistics.quantiles(waits, n=100)[98]:.2f}")
    table.row("slow ones told 408", f"{len(timed_out):,} of {len(slow):,}")
    table.row("CPU of the server, s in 14", f"{cpu:.2f}")
    table.raw = {"waits_ms": waits, "timed_out": len(timed_out)}
    table.at_most("the next client's wait, 99th percentile in ms", [statistics.quantiles(waits, n=100)[98]], 10)
    table.at_least("slow ones timed out", [len(timed_out)], len(slow))
    return table
