"""Hand-off: a fast route while a slow one computes, on one core.

`/` says Pong, `/fib/45` computes for seconds in its handler. How much of its throughput does the fast route keep?"""

import subprocess
import threading
import time
from contextlib import ExitStack

from harness import BOOK, Result, build, free_port, load, missing, one_worker, ratios, server, spread, thrum

NEEDS = ["taskset", "wrk", "curl"]
MEANING = """An event loop cannot leave a handler that computes, and a scheduler that preempts it gives it a whole slice each time. thrum
moves everybody else to another OS thread and lets the slow one have what CPU is left.

At one connection a core that is alone falls asleep between requests, and one that also computes does not: there a ratio
above 1 is the machine's doing. `floor_epoll` gains too beside a loop of the idle class."""


def slow(url: str, took: list):
    begin = time.monotonic()
    done = subprocess.run(["curl", "-s", "-m", "120", "-o", "/dev/null", "-w", "%{http_code}", url], capture_output=True, text=True)
    took.append(time.monotonic() - begin if done.stdout == "200" else float("inf"))


def run(options):
    table = Result(["server", "connections", "alone, requests/s", "beside it", "kept", "p99 beside it, ms", "slow one, s"])
    with ExitStack() as stack:
        servers = []
        port = free_port()
        servers.append(stack.enter_context(server("thrum", thrum("fibs", f"127.0.0.1:{port}"), port, one_worker())))
        if go := build("fast_slow.go"):
            port = free_port()
            servers.append(stack.enter_context(server("Go", [go, port], port, {"GOMAXPROCS": "1"})))
        if missing("node"):
            print("skipped: node (not installed)")
        else:
            port = free_port()
            command = ["node", BOOK / "peers" / "fast_slow.js", port]
            servers.append(stack.enter_context(server("node", command, port)))
        for target in servers:
            for connections in (1, 32):
                alone, beside, took = [], [], []
                for _ in range(options.rounds):
                    alone.append(load(target, "/", connections, options.seconds))
                    hog = threading.Thread(target=slow, args=(target.url("/fib/45"), took))
                    hog.start()
                    time.sleep(0.2)
                    beside.append(load(target, "/", connections, options.seconds, may_starve=True))
                    hog.join()
                kept = ratios([load.rate for load in beside], [load.rate for load in alone])
                table.row(
                    target.name,
                    str(connections),
                    spread([load.rate for load in alone], 0),
                    spread([load.rate for load in beside], 0),
                    spread(kept),
                    spread([load.p99_ms for load in beside]),
                    spread(took, 1),
                )
                table.raw[f"{target.name} {connections}"] = {"kept": kept, "slow_s": took}
                if target.name == "thrum":
                    bar = {1: 0.90, 32: 0.75}[connections]
                    table.at_least(f"kept at {connections} connections", kept, bar)
                    table.at_most(f"the slow one finishes beside {connections}, s", [max(took)], 120)
    return table
