"""Doubling: what does a server cost that answers each line with its number doubled, written as plain sequential code?

First on one core, with 500 connections that each have three lines on their way. Then the whole job of the article: ten loads at
once, each with 500 connections, ten lines on each and three of them on their way, on two cores that the loads have to share."""

import math
import subprocess
import time

from harness import TWO_CORES, Servers, in_turns, one_worker, run_program, thrum, workers
from peers import BOOK, build, build_haskell, installed, tokio
from result import Result, ratios, spread

CONNECTIONS, IN_FLIGHT = 500, 3
LOADS, LINES = 10, 10

NEEDS = ["taskset"]
ROUNDS, SECONDS = 3, 3
PROGRAMS = {
    "thrum": "examples/doubling.rs",
    "conduit (GHC)": "book/peers/doubling.hs",
    "node": "book/peers/doubling.js",
    "node cluster": "book/peers/doubling_cluster.js",
    "Go": "book/peers/doubling.go",
    "tokio": "book/peers/tokio/src/bin/doubling.rs",
    "the load": "examples/doubling_load.rs",
}
MEANING = """What is written is a pipeline or a loop that reads, answers and writes, one for each connection; only node's program has to
keep what is left of a line between two calls. The lines that came together are answered in one write, so that the kernel's part
is shared by those in flight.

In the article's job each load connects 500 times, asks and leaves: most of it is connections. The loads take their part of both
cores, so that a server that needs less leaves them more. The seconds are those of one load, all ten of which run at once."""


def start(servers: Servers, cores: int):
    where = {"cores": "0" if cores == 1 else TWO_CORES}
    peers = BOOK / "peers"
    servers.add("thrum", lambda port: thrum("doubling", f"127.0.0.1:{port}"), workers(cores), **where)
    if cores > 1:
        servers.add("thrum, one worker", lambda port: thrum("doubling", f"127.0.0.1:{port}"), one_worker(), **where)
    if twin := tokio("doubling"):
        servers.add("tokio", lambda port: [twin, port], **where)
    if go := build("doubling.go"):
        servers.add("Go", lambda port: [go, port], {"GOMAXPROCS": str(cores)}, **where)
    if installed("node"):
        servers.add("node", lambda port: ["node", peers / "doubling.js", port], **where)
        if cores > 1:
            servers.add("node cluster", lambda port: ["node", peers / "doubling_cluster.js", port, cores], **where)
    if ghc := build_haskell("doubling.hs", "conduit-extra"):
        servers.add("conduit (GHC)", lambda port: [ghc, port, "+RTS", f"-N{cores}"], **where)
        if cores > 1:
            servers.add("conduit (GHC), one core", lambda port: [ghc, port, "+RTS", "-N1"], **where)


def run(options):
    result = Result()
    one_core(options, result)
    whole_job(options, result)
    return result


def one_core(options, result: Result):
    def measure(target):
        """CPU a line in microseconds, of it user, and lines a second."""
        load = thrum("doubling_load", target.port, CONNECTIONS, IN_FLIGHT, options.seconds)
        before = target.cpu_seconds()
        done = run_program(["taskset", "-c", "1", "env", "THRUM_WORKERS=1", *load])
        after = target.cpu_seconds()
        lines = done.figure("answers")
        return (after[0] - before[0]) / lines * 1e6, (after[1] - before[1]) / lines * 1e6, done.figure("answers a second")

    with Servers() as servers:
        start(servers, 1)
        results = in_turns(servers.running, options, measure)
    table = result.table(["server", "CPU a line, us", "of it user", "lines/s"], "One core")
    costs = {}
    for name, measured in results.items():
        cost, user, rate = map(list, zip(*measured))
        costs[name] = cost
        table.row(name, spread(cost), spread(user), spread(rate, 0))
        result.raw[name] = measured
    result.bar_chart("Doubling server on one core: what a line costs", "µs of CPU a line, less is better", costs)
    for peer in ("node", "conduit (GHC)"):
        if peer in costs:
            result.at_most(f"CPU a line, thrum to {peer}", ratios(costs["thrum"], costs[peer]), 0.75)


def whole_job(options, result: Result):
    def measure(target):
        """Seconds that a load took, on average, and the server's CPU seconds. Who needs a minute is not waited for."""
        load = list(map(str, thrum("doubling_load", target.port, CONNECTIONS, IN_FLIGHT, 60, LINES)))
        before = target.cpu_seconds()[0]
        begin = time.monotonic()
        running = [subprocess.Popen(["env", "THRUM_WORKERS=1", *load], stdout=subprocess.PIPE, text=True) for _ in range(LOADS)]
        took = []
        while running:
            for done in [each for each in running if each.poll() is not None]:
                if done.returncode != 0:
                    raise SystemExit(f"a load of {target.name} failed")
                whole = f"answers {CONNECTIONS * LINES}\n" in done.stdout.read()
                took.append(time.monotonic() - begin if whole else math.inf)
                running.remove(done)
            time.sleep(0.001)
        return sum(took) / len(took), target.cpu_seconds()[0] - before

    with Servers() as servers:
        start(servers, 2)
        results = in_turns(servers.running, options, measure)
    table = result.table(["server", "a load, s", "the server's CPU, s"], "Ten loads at once, two cores")
    for name, measured in results.items():
        seconds, cpu = map(list, zip(*measured))
        table.row(name, spread(seconds), spread(cpu))
        result.raw[f"{name}, ten loads"] = measured
    seconds = {name: [each for each, _ in measured] for name, measured in results.items()}
    result.bar_chart("Doubling server, ten loads at once on two cores: how long one takes", "seconds a load, less is better", seconds)
