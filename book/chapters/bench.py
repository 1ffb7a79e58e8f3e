"""The load generator: what does it cost to ask, and is what it says true?

Cost: `thrum bench` and wrk ask the same bare loop (`floor_epoll`, on the first core) over 64 connections from the second
core, request by request and in bursts of twenty. Truth: delays that are known, each as often as the others, and a server
that is stopped for one second of every four while requests go on being due."""

import itertools
import json
import signal
import tempfile
import threading
import time
from pathlib import Path

from harness import LOADER, Load, Servers, one_worker, run_program, thrum
from peers import build
from result import Result, compare, cost_table, spread

NEEDS = ["taskset", "wrk", "cc"]
ROUNDS, SECONDS = 3, 3
PROGRAMS = {"thrum": "crates/thrum-load/src/lane.rs"}
# So many of a hundred requests take so many milliseconds: the percentiles lie well within the steps.
# They are long because the server's timers are whole milliseconds, and never early.
DELAYS = {400: 60, 600: 25, 800: 12, 1000: 3}
INJECTED = {"p50": 400, "p75": 600, "p90": 800, "p99": 1000}
STALL, EVERY = 1.0, 4.0
MEANING = """wrk spends four system calls on a request: it writes, reads, and twice changes what it waits for. thrum's client registers a
connection once. A load that waits for a stopped server before it asks again never sees what its users would: of a second's stall it
counts one slow request for each connection. By the clock, a quarter of all requests were due in the stall, and each waited for
the rest of it."""


def bench(target: str, seconds: float, *arguments) -> tuple[dict, Load]:
    """What `thrum bench` saw, and what that cost its process."""
    words = ["bench", target, "--duration", f"{seconds}s", "--threads", "1", "--quiet", "--json", "-", *arguments]
    done = run_program([*LOADER, *thrum("thrum", *words)])
    seen = json.loads(done.output)
    client = seen["client"]
    cost = lambda used: used / seen["answered"] * 1e6
    used = client["user_s"] + client["system_s"]
    return seen, Load(seen["answered"] / seen["elapsed_s"], None, cost(used), cost(client["user_s"]))


def wrk(target: str, seconds: float, *arguments) -> Load:
    done = run_program([*LOADER, "wrk", "-t1", "-c64", f"-d{seconds}s", *arguments, target])
    count = int(next(line.split()[0] for line in done.output.splitlines() if "requests in" in line))
    return Load(count / seconds, None, done.cpu_s / count * 1e6, done.user_s / count * 1e6)


def run(options) -> Result:
    with Servers() as servers:
        floor = build("floor_epoll.c")
        servers.add("floor_epoll", lambda port: [floor, port])
        servers.add("delays", lambda port: thrum("delays", f"127.0.0.1:{port}"), one_worker())
        plain, delays = servers.running
        costs = {"thrum bench": [], "wrk": [], "thrum bench, bursts": [], "wrk, bursts": []}
        burst = Path(__file__).parent.parent / "peers" / "burst.lua"
        for _ in range(options.rounds):
            url = plain.url()
            costs["thrum bench"].append(bench(url, options.seconds, "-c", "64", "-w", "0s")[1])
            costs["wrk"].append(wrk(url, options.seconds))
            costs["thrum bench, bursts"].append(bench(url, options.seconds, "-c", "64", "-w", "0s", "--burst", "20")[1])
            costs["wrk, bursts"].append(wrk(url, options.seconds, "-s", burst))
        result = cost_table(costs, "GETs over 64 connections: what one costs the load generator", "load generator")
        compare(result, costs, "CPU a request", "thrum bench", "wrk", 0.9)
        result.at_least("requests a second in bursts", [each.rate for each in costs["thrum bench, bursts"]], 1e6)
        known_delays(result, delays, options)
        stalls(result, plain, options)
    return result


def known_delays(result: Result, target, options):
    table = result.table(["percentile", "injected, ms", "found, ms"], "Known delays")
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as urls:
        for delay, count in DELAYS.items():
            urls.write(f"/{delay}\n" * count)
        urls.flush()
        asked = ["-c", "300", "--urls", urls.name]
        found = [bench(target.url(), 2 * options.seconds, *asked)[0]["figures"]["latency_ms"] for _ in range(options.rounds)]
    for percentile, injected in INJECTED.items():
        table.row(percentile, str(injected), spread([each[percentile] for each in found]))
    off = [max(abs(each[percentile] / injected - 1) for percentile, injected in INJECTED.items()) for each in found]
    result.at_most("the worst of these percentiles is off by", off, 0.01)


def stalls(result: Result, target, options):
    columns = ["percentile", "follows from the stalls, s", "by the clock, s", "of what was sent, s"]
    table = result.table(columns, "A server that stalls")
    # A share of STALL / EVERY is due in a stall, and waits for what is left of it.
    expected = {f"p{percent:g}": STALL - (100 - percent) / 100 * EVERY for percent in [90, 99, 99.9]}
    found = []
    for _ in range(options.rounds):
        over = threading.Event()
        stopper = threading.Thread(target=stall, args=(target, over))
        stopper.start()
        try:
            found.append(bench(target.url(), 2 * EVERY, "-c", "50", "-w", "0s", "--rate", "2000")[0]["figures"])
        finally:
            over.set()
            stopper.join()
    seconds = lambda what, percentile: [each[f"{what}_ms"][percentile] / 1000 for each in found]
    for percentile, known in expected.items():
        sent = seconds("service", percentile)
        table.row(percentile, f"{known:.3f}", spread(seconds("latency", percentile), 3), spread(sent, 3))
    off = [max(abs(each["latency_ms"][percentile] / 1000 - known) for percentile, known in expected.items()) for each in found]
    result.at_most("the worst of these percentiles is off by, s", off, 0.05)


def stall(target, over: threading.Event):
    """Stops it for a second of every four, the first time when the load has begun."""
    pauses = itertools.chain([EVERY / 8], itertools.repeat(EVERY - STALL))
    while not over.wait(next(pauses)):
        target.process.send_signal(signal.SIGSTOP)
        time.sleep(STALL)
        target.process.send_signal(signal.SIGCONT)
