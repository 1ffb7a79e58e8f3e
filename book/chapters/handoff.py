"""Hand-off: a fast route while a slow one computes, on one core.

`/` says Pong, `/fib/N` computes for seconds in its handler. How much of its throughput does the fast route keep beside one
of those, and beside eight at once?"""

import subprocess
import threading
import time
from contextlib import ExitStack

from harness import BOOK, Result, build, free_port, load, missing, one_worker, ratios, server, spread, thrum, tokio

# Connections, slow requests at once, and what each of those computes: as much in all.
CASES = [(1, 1, 45), (32, 1, 45), (32, 8, 41)]

NEEDS = ["taskset", "wrk", "curl"]
MEANING = """An event loop cannot leave a handler that computes, and a scheduler that preempts it gives it a whole slice each time. thrum
moves everybody else to another OS thread and lets the slow one have what CPU is left.

At one connection a core that is alone falls asleep between requests, and one that also computes does not: there a ratio
above 1 is the machine's doing. `floor_epoll` gains too beside a loop of the idle class."""


def slow(url: str, took: list):
    begin = time.monotonic()
    done = subprocess.run(["curl", "-s", "-m", "120", "-o", "/dev/null", "-w", "%{http_code}", url], capture_output=True, text=True)
    took.append(time.monotonic() - begin if done.stdout == "200" else float("inf"))


def measure(target, options, connections: int, hogs: int, n: int):
    """The load alone and beside the slow ones, round by round, and how long these took."""
    alone, beside, took = [], [], []
    for _ in range(options.rounds):
        alone.append(load(target, "/", connections, options.seconds))
        threads = [threading.Thread(target=slow, args=(target.url(f"/fib/{n}"), took)) for _ in range(hogs)]
        for thread in threads:
            thread.start()
        time.sleep(0.2)
        beside.append(load(target, "/", connections, options.seconds, may_starve=True))
        for thread in threads:
            thread.join()
    return alone, beside, took


def run(options):
    table = Result(
        ["server", "connections", "slow ones", "alone, requests/s", "beside them", "kept", "p99 beside them, ms", "a slow one, s"]
    )
    with ExitStack() as stack:
        servers = []

        def add(name, command, port, env=None):
            servers.append(stack.enter_context(server(name, command, port, env)))

        port = free_port()
        add("thrum", thrum("fibs", f"127.0.0.1:{port}"), port, one_worker())
        if twin := tokio("fast_slow"):
            port = free_port()
            add("tokio + hyper", [twin, port], port)
        if go := build("fast_slow.go"):
            port = free_port()
            add("Go", [go, port], port, {"GOMAXPROCS": "1"})
        if missing("node"):
            print("skipped: node (not installed)")
        else:
            port = free_port()
            add("node", ["node", BOOK / "peers" / "fast_slow.js", port], port)
        for target in servers:
            for connections, hogs, n in CASES:
                alone, beside, took = measure(target, options, connections, hogs, n)
                kept = ratios([load.rate for load in beside], [load.rate for load in alone])
                table.row(
                    target.name,
                    str(connections),
                    str(hogs),
                    spread([load.rate for load in alone], 0),
                    spread([load.rate for load in beside], 0),
                    spread(kept),
                    spread([load.p99_ms for load in beside]),
                    spread(took, 1),
                )
                table.raw[f"{target.name} {connections} {hogs}"] = {"kept": kept, "slow_s": took}
                if target.name == "thrum":
                    where = f"at {connections} connections, {hogs} slow"
                    table.at_least(f"kept {where}", kept, {(1, 1): 0.90, (32, 1): 0.95, (32, 8): 0.85}[connections, hogs])
                    table.at_most(f"the slow ones finish {where}, s", [max(took)], 120)
                    if (connections, hogs) == (32, 1):
                        table.at_most(f"p99 {where}, ms", [load.p99_ms for load in beside], 2)
    return table
