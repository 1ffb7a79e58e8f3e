"""Idle crowds: what does an open connection cost that has been answered once and is kept?

10,000 of them and more, ten times as many each time, as far as this machine lets a process have files open. In memory: once
when they asked in turns, and again when all of them asked at once, with that of the server that nobody has asked yet taken
off. In CPU time while all of them are silent. And in the waits of a busy few beside them."""

import contextlib
import multiprocessing
import re
import resource
import socket
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from harness import Load, Server, free_port, load, one_worker, scratch, server
from peers import build, build_haskell, installed, skip, tokio
from result import Result, spread
from web import PONG, nginx, thrum_pong

COUNTS, A_PROCESS = [10_000, 100_000, 1_000_000], 15_000
# The rest would take more minutes than they are worth.
MOST_OF_PEERS = 100_000
BUSY = 8
# Of linux/in.h.
IP_BIND_ADDRESS_NO_PORT = 24
# What a process needs besides its connections.
SPARE = 200
REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"

NEEDS = ["taskset", "wrk"]
ROUNDS, SECONDS = 2, 2
PROGRAMS = {
    "thrum": "examples/pong.rs",
    "hyper": "book/peers/tokio/src/bin/pong.rs",
    "nginx": "book/web.py#nginx",
    "Go": "book/peers/pong.go",
    "Warp": "book/peers/fast_slow.hs",
    "one of the crowd": "book/chapters/idle.py#hold",
}
MEANING = """An idle connection of thrum is a task and its entry in the reactor: buffers are given back. Memory is what `smaps_rollup` calls
anonymous. nginx sets up its table of connections when it starts (about 400 bytes each), which is so counted as its empty server's.
Who is silent is not looked at, so that the busy few should not notice whether there are any."""


@dataclass
class Crowd:
    """What so many connections cost: bytes each after they asked in turns and after all at once, seconds of CPU a second while
    they were silent, and what the busy few saw beside them."""

    empty: float
    in_turns: float
    at_once: float
    idle_cpu: float
    busy: Load


def hold(port: int, source: str, count: int, answered, again, stop):
    """Opens connections from an address of its own, since one address has only so many ports; connecting chooses the port."""
    crowd = []
    for _ in range(count):
        client = socket.socket()
        client.settimeout(30)
        client.setsockopt(socket.IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1)
        client.bind((source, 0))
        client.connect(("127.0.0.1", port))
        client.sendall(REQUEST)
        await_pong(client)
        crowd.append(client)
    answered.wait()
    again.wait()
    for client in crowd:
        client.sendall(REQUEST)
    for client in crowd:
        await_pong(client)
    answered.wait()
    stop.wait()


def await_pong(client: socket.socket):
    answer = b""
    while not answer.endswith(b"Pong!\r\n"):
        more = client.recv(4096)
        if not more:
            raise SystemExit("a connection was closed")
        answer += more


def anonymous(target: Server) -> int:
    """Bytes of the server's own memory."""
    rollups = (Path(f"/proc/{pid}/smaps_rollup").read_text() for pid in target.pids())
    return sum(int(re.search(r"Anonymous:\s+(\d+) kB", rollup)[1]) * 1024 for rollup in rollups)


def measure(target: Server, count: int, seconds: int) -> Crowd:
    parts = [min(A_PROCESS, count - begin) for begin in range(0, count, A_PROCESS)]
    answered = multiprocessing.Barrier(len(parts) + 1)
    again, stop = multiprocessing.Event(), multiprocessing.Event()
    time.sleep(0.5)
    empty = anonymous(target)
    crowd = [
        multiprocessing.Process(target=hold, args=(target.port, f"127.0.0.{2 + index}", part, answered, again, stop), daemon=True)
        for index, part in enumerate(parts)
    ]
    patience = 120 + count / 2000
    for process in crowd:
        process.start()
    try:
        answered.wait(patience)
        time.sleep(1)
        before = target.cpu_seconds()[0]
        time.sleep(3)
        idle_cpu = (target.cpu_seconds()[0] - before) / 3
        first = anonymous(target)
        busy = load(target, "/", BUSY, seconds)
        again.set()
        answered.wait(patience)
        time.sleep(3)
        second = anonymous(target)
    except threading.BrokenBarrierError:
        raise SystemExit(f"{target.name} does not keep {count:,} connections") from None
    finally:
        again.set()
        stop.set()
        for process in crowd:
            process.join()
    return Crowd(empty, (first - empty) / count, (second - empty) / count, idle_cpu, busy)


def counts() -> list[int]:
    """How many connections: all counts that a process may have, and the most that it may have if that is not the last."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        hard = max(hard, COUNTS[-1] + SPARE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    for count in COUNTS:
        if count > hard - SPARE:
            skip(f"{count:,} connections", f"a process may have {hard:,} files open: ulimit -n")
    return sorted({min(count, hard - SPARE) for count in COUNTS})


def everyone(folder: Path, count: int) -> dict:
    """Each server: how it is started."""

    def peer(name, command, env=None):
        port = free_port()
        return name, lambda: server(name, command(port), port, env)

    found = [peer("thrum pong", thrum_pong, one_worker())]
    if count > MOST_OF_PEERS:
        return dict(found)
    if twin := tokio("pong"):
        found.append(peer("hyper", lambda port: [twin, port, "http1"]))
    if installed("nginx"):
        # It closes idle connections when fewer than a sixteenth of its table is free.
        found.append(peer("nginx", lambda port: nginx(folder, port, location=PONG, connections=count * 9 // 8)))
    if go := build("pong.go"):
        found.append(peer("Go", lambda port: [go, port], {"GOMAXPROCS": "1"}))
    # It closes what has been silent for 30 seconds.
    if count <= COUNTS[0] and (warp := build_haskell("fast_slow.hs", "warp")):
        found.append(peer("Warp", lambda port: [warp, port, "+RTS", "-N1"]))
    return dict(found)


def run(options):
    result = Result()
    columns = ["server", "connections", "empty, MB", "a connection, bytes", "after all at once, bytes", "CPU while silent, %"]
    table = result.table([*columns, "busy ones, requests/s", "their p99, ms"])
    lines, waits = {}, {}
    with scratch() as folder:
        for count in counts():
            starts = everyone(folder, count)
            # It takes minutes to open many.
            rounds = range(options.rounds if count <= COUNTS[0] else 1)
            crowds = {name: [] for name in starts}
            for _ in rounds:
                for name in list(crowds):
                    try:
                        with starts[name]() as target:
                            crowds[name].append(measure(target, count, options.seconds))
                    except SystemExit as lost:
                        if name == "thrum pong":
                            raise
                        skip(f"{count:,} connections of {name}", str(lost))
                        del crowds[name]
            for name, measured in crowds.items():
                figures = {key: [getattr(crowd, key) for crowd in measured] for key in ("empty", "in_turns", "at_once", "idle_cpu")}
                table.row(
                    *(name, f"{count:,}", spread([bytes / 1e6 for bytes in figures["empty"]])),
                    *(spread(figures["in_turns"], 0), spread(figures["at_once"], 0), spread([100 * cpu for cpu in figures["idle_cpu"]])),
                    *(spread([crowd.busy.rate for crowd in measured], 0), spread([crowd.busy.p99_ms for crowd in measured])),
                )
                result.raw[f"{name} {count}"] = {**figures, "busy": [vars(crowd.busy) for crowd in measured]}
                lines.setdefault(name, []).append((count, figures["in_turns"]))
                waits.setdefault(name, []).append((count, [crowd.busy.p99_ms for crowd in measured]))
    most, bytes = lines["thrum pong"][-1]
    result.at_most(f"one of {most:,} idle connections, bytes", bytes, 600)
    draw(result, "Idle connections: the server's own memory for each", "bytes a connection, less is better", lines)
    draw(result, f"The wait of one in a hundred of {BUSY} busy connections beside an idle crowd", "milliseconds, less is better", waits)
    return result


def draw(result: Result, title: str, axis: str, lines: dict):
    """Lines, or bars if there is but one size."""
    sizes = {count for line in lines.values() for count, _ in line}
    if len(sizes) > 1:
        result.line_chart(title, "connections", axis, lines)
    else:
        bars = {name: values for name, [(_, values)] in lines.items()}
        result.bar_chart(f"{title}, {sizes.pop():,} connections", axis, bars)
