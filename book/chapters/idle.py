"""Idle: 100,000 connections that have each been answered once and are kept, or as many as this machine lets a process have.

What does each cost in the server's own memory? It is told three seconds after the last answer: once when they asked in
turns, and again when all of them asked at once. The memory of the server that nobody has asked yet is taken off."""

import contextlib
import multiprocessing
import re
import resource
import socket
import time
from pathlib import Path

from harness import Result, build, free_port, missing, one_worker, scratch, server, spread, tokio
from web import PONG, nginx, thrum_pong

OPEN, A_PROCESS = 100_000, 15_000
# Of linux/in.h.
IP_BIND_ADDRESS_NO_PORT = 24
# What a process needs besides its connections.
SPARE = 200
REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"

NEEDS = ["taskset"]
MEANING = """An idle connection of thrum is a task and its entry in the reactor: buffers are given back. Memory is what `smaps_rollup` calls
anonymous. nginx sets up its table of connections when it starts (about 400 bytes each), which is so counted as its empty server's."""


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


def anonymous(target) -> int:
    """Bytes of the server's own memory."""
    rollups = (Path(f"/proc/{pid}/smaps_rollup").read_text() for pid in target.pids())
    return sum(int(re.search(r"Anonymous:\s+(\d+) kB", rollup)[1]) * 1024 for rollup in rollups)


def measure(start, count: int) -> tuple[float, float, float]:
    """Bytes of the empty server, and of each connection: after all asked in turns, and after all at once."""
    parts = [min(A_PROCESS, count - begin) for begin in range(0, count, A_PROCESS)]
    answered = multiprocessing.Barrier(len(parts) + 1)
    again, stop = multiprocessing.Event(), multiprocessing.Event()
    with start() as target:
        time.sleep(0.5)
        empty = anonymous(target)
        crowd = [
            multiprocessing.Process(target=hold, args=(target.port, f"127.0.0.{2 + index}", part, answered, again, stop), daemon=True)
            for index, part in enumerate(parts)
        ]
        for process in crowd:
            process.start()
        answered.wait(120)
        time.sleep(3)
        first = anonymous(target)
        again.set()
        answered.wait(120)
        time.sleep(3)
        second = anonymous(target)
        stop.set()
        for process in crowd:
            process.join()
    return empty, (first - empty) / count, (second - empty) / count


def run(options):
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    count = min(OPEN, hard - SPARE)
    print(f"{count:,} connections\n")
    table = Result(["server", "empty, MB", "a connection, bytes", "after all at once, bytes"])
    with scratch() as folder:

        def peer(name, command, env=None):
            port = free_port()
            return lambda: server(name, command(port), port, env)

        starts = {"thrum pong": peer("thrum pong", thrum_pong, one_worker())}
        if twin := tokio("pong"):
            starts["hyper"] = peer("hyper", lambda port: [twin, port, "http1"])
        if missing("nginx"):
            print("skipped: nginx (not installed)")
        else:
            # It closes idle connections when fewer than a sixteenth of its table is free.
            starts["nginx"] = peer("nginx", lambda port: nginx(folder, port, location=PONG, connections=count * 9 // 8))
        if go := build("pong.go"):
            starts["Go"] = peer("Go", lambda port: [go, port], {"GOMAXPROCS": "1"})
        rounds = [{name: measure(start, count) for name, start in starts.items()} for _ in range(options.rounds)]
        for name in starts:
            measured = [each[name] for each in rounds]
            empty, in_turns, at_once = map(list, zip(*measured))
            table.row(name, spread([bytes / 1e6 for bytes in empty]), spread(in_turns, 0), spread(at_once, 0))
            table.raw[name] = {"empty": empty, "in_turns": in_turns, "at_once": at_once}
    table.at_most("an idle connection, bytes", table.raw["thrum pong"]["in_turns"], 600)
    return table
