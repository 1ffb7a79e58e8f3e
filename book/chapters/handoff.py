"""Hand-off: what do those pay who ask a fast route, while 0, 1, N and 2N requests compute beside them?

`/` says Pong to 32 connections, `/fib/45` computes for seconds in its handler; N is the number of cores. First on one core with
one worker, then on all of them, and there beside the load. And what is left of it afterwards: threads, and wake-ups of a server
that has nothing to do."""

import os
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path

from harness import Servers, load, thrum, workers
from peers import build, tokio
from result import Result, ratios, spread

CORES = os.cpu_count()
# How many compute at once, and what: as much in all, which is more than the load lasts.
HOGS = {1: 45, 2: 44, 4: 43, 8: 41}
BURST, BURST_N = 16, 38

NEEDS = ["taskset", "wrk", "curl"]
ROUNDS, SECONDS = 3, 2
PROGRAMS = {
    "thrum": "examples/fibs.rs",
    "tokio + hyper": "book/peers/tokio/src/bin/fast_slow.rs",
    "Go": "book/peers/fast_slow.go",
}
MEANING = """An event loop cannot leave a handler that computes, and a scheduler that preempts it gives it a whole slice each time. thrum
moves everybody else to another OS thread and lets the slow one have what CPU is left. Who keeps nothing beside one slow request
is not asked beside more.

At one connection a core that is alone falls asleep between requests, and one that also computes does not: there a ratio
above 1 is the machine's doing. `floor_epoll` gains too beside a loop of the idle class.

With no slow request there is nothing to pay but a counter a poll: the first row of each server. After a burst the threads that
stood in wait for the next one, and then end; nobody wakes up to look for slow ones, unless something runs."""


def run(options):
    result = Result()
    table = result.table(
        ["server", "workers", "connections", "slow ones", "requests/s", "kept", "p99, ms", "a slow one, s"], "A fast route beside slow requests"
    )
    beside_slow(options, result, table, 1, [1, 2, 8])
    if CORES > 1:
        beside_slow(options, result, table, CORES, sorted({1, CORES, 2 * CORES} & set(HOGS)))
    afterwards(options, result)
    return result


def start(servers: Servers, cores: int):
    where = {"cores": ",".join(map(str, range(cores)))}
    servers.add("thrum", lambda port: thrum("fibs", f"127.0.0.1:{port}"), workers(cores), **where)
    if twin := tokio("fast_slow"):
        servers.add("tokio + hyper", lambda port: [twin, port], **where)
    if go := build("fast_slow.go"):
        servers.add("Go", lambda port: [go, port], {"GOMAXPROCS": str(cores)}, **where)


def beside_slow(options, result: Result, table, cores: int, counts: list[int]):
    """Loads each server without slow requests and beside more and more of them."""
    kept_of, wait_of = {}, {}
    with Servers() as servers:
        start(servers, cores)
        for target in servers.running:
            load(target, "/", 32, 1)
            alone = {connections: [load(target, "/", connections, options.seconds) for _ in range(options.rounds)] for connections in (1, 32)}
            lines = kept_of[target.name], wait_of[target.name] = [(0, [1.0])], [(0, [each.p99_ms for each in alone[32]])]
            rates = [each.rate for each in alone[32]]
            table.row(target.name, str(cores), "32", "0", spread(rates, 0), "-", spread(lines[1][0][1]), "-")
            for connections, hogs in [(32, 1), *([(1, 1)] if cores == 1 else []), *((32, count) for count in counts[1:])]:
                beside, took = measure(options, target, connections, hogs)
                kept = ratios([each.rate for each in beside], [each.rate for each in alone[connections]])
                waits = [each.p99_ms for each in beside]
                table.row(
                    *(target.name, str(cores), str(connections), str(hogs)),
                    *(spread([each.rate for each in beside], 0), spread(kept), spread(waits), spread(took, 1)),
                )
                result.raw[f"{target.name}, {cores} workers, {connections} connections, {hogs} slow"] = {"kept": kept, "slow_s": took}
                if connections == 32:
                    lines[0].append((hogs, kept))
                    lines[1].append((hogs, waits))
                if target.name == "thrum":
                    hold(result, cores, connections, hogs, kept, waits, took)
                if max(kept) < 0.01:
                    break
    words = f"{cores} worker{'s' * (cores > 1)}"
    result.line_chart(f"Throughput kept beside slow requests, {words}, 32 connections", "slow requests at once", "share kept, more is better", kept_of, log="")
    title = f"The wait of one in a hundred beside slow requests, {words}, 32 connections"
    result.line_chart(title, "slow requests at once", "milliseconds, logarithmic, less is better", wait_of, log="y")


def measure(options, target, connections: int, hogs: int):
    """The load beside slow ones, round by round, and how long these took."""
    beside, took = [], []
    for _ in range(options.rounds):
        threads = [threading.Thread(target=slow, args=(target.url(f"/fib/{HOGS[hogs]}"), took)) for _ in range(hogs)]
        for thread in threads:
            thread.start()
        time.sleep(0.2)
        beside.append(load(target, "/", connections, options.seconds, may_starve=True))
        for thread in threads:
            thread.join()
    return beside, took


def slow(url: str, took: list):
    begin = time.monotonic()
    done = subprocess.run(["curl", "-s", "-m", "120", "-o", "/dev/null", "-w", "%{http_code}", url], capture_output=True, text=True)
    took.append(time.monotonic() - begin if done.stdout == "200" else float("inf"))


def hold(result: Result, cores: int, connections: int, hogs: int, kept: list, waits: list, took: list):
    where = f"at {connections} connections, {hogs} slow, {cores} worker{'s' * (cores > 1)}"
    result.at_most(f"the slow ones finish {where}, s", [max(took)], 120)
    if cores > 1:
        return
    result.at_least(f"kept {where}", kept, 0.85 if hogs > 1 else 0.90 if connections == 1 else 0.95)
    if (connections, hogs) == (32, 1):
        result.at_most(f"p99 {where}, ms", waits, 2)


def afterwards(options, result: Result):
    """Threads before, beside and after a burst of slow requests, and how often a server with nothing to do wakes up."""
    columns = ["server", "threads at first", "the most, beside 16 slow ones", "15 s later", "wake-ups a second, idle"]
    table = result.table(columns, "What is left of it")
    idle = {}
    with Servers() as servers:
        start(servers, 1)
        for target in servers.running:
            load(target, "/", 32, 1)
            first = most = len(threads_of(target))
            asking = [threading.Thread(target=slow, args=(target.url(f"/fib/{BURST_N}"), [])) for _ in range(BURST)]
            for each in asking:
                each.start()
            while any(each.is_alive() for each in asking):
                most = max(most, len(threads_of(target)))
                time.sleep(0.005)
            time.sleep(15)
            later = len(threads_of(target))
            before = wake_ups(target)
            time.sleep(5)
            idle[target.name] = [(wake_ups(target) - before) / 5]
            table.row(target.name, str(first), str(most), str(later), spread(idle[target.name], 1))
            result.raw[f"{target.name}, afterwards"] = {"first": first, "most": most, "later": later, "wake_ups": idle[target.name]}
            if target.name == "thrum":
                result.at_most("threads 15 s after a burst, more than at first", [float(later - first)], 2)
                result.at_most("wake-ups a second, idle", idle[target.name], 0.5)
    result.bar_chart("Wake-ups of a server that has nothing to do", "a second, less is better", idle)


def threads_of(target) -> list[Path]:
    return [thread for pid in target.pids() for thread in Path(f"/proc/{pid}/task").iterdir()]


def wake_ups(target) -> int:
    """How often its threads went to sleep so far, which is how often they woke up."""
    count = 0
    for thread in threads_of(target):
        with suppress(OSError):
            status = (thread / "status").read_text()
            count += int(status.split("voluntary_ctxt_switches:")[1].split()[0])
    return count
