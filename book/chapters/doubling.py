"""Doubling: a server that answers each line with its number doubled, written as plain sequential code.

500 connections with three lines in flight each, one core."""

from contextlib import ExitStack

from harness import BOOK, Result, build, free_port, in_turns, missing, one_worker, ratios, run_program, server, spread, thrum, tokio

CONNECTIONS, IN_FLIGHT = 500, 3

NEEDS = ["taskset"]
MEANING = """What is written is a loop that reads, answers and writes, one for each connection. The lines that came together are answered in
one write, so that the kernel's part is shared by those in flight."""


def run(options):
    with ExitStack() as stack:
        servers = []

        def add(name, command, port, env=None):
            servers.append(stack.enter_context(server(name, command, port, env)))

        port = free_port()
        add("thrum", thrum("doubling", f"127.0.0.1:{port}"), port, one_worker())
        if twin := tokio("doubling"):
            port = free_port()
            add("tokio", [twin, port], port)
        if missing("node"):
            print("skipped: node (not installed)")
        else:
            port = free_port()
            add("node", ["node", BOOK / "peers" / "doubling.js", port], port)
        if ghc := build("doubling.hs"):
            port = free_port()
            add("conduit (GHC)", [ghc, port, "+RTS", "-N1"], port)

        def measure(target):
            """CPU a line in microseconds, of it user, and lines a second."""
            load = thrum("doubling_load", target.port, CONNECTIONS, IN_FLIGHT, options.seconds)
            before = target.cpu_seconds()
            done = run_program(["taskset", "-c", "1", "env", "THRUM_WORKERS=1", *load])
            after = target.cpu_seconds()
            lines = done.figure("answers")
            return (after[0] - before[0]) / lines * 1e6, (after[1] - before[1]) / lines * 1e6, done.figure("answers a second")

        results = in_turns(servers, options, measure)
    table = Result(["server", "CPU a line, us", "of it user", "lines/s"])
    costs = {}
    for name, measured in results.items():
        cost, user, rate = map(list, zip(*measured))
        costs[name] = cost
        table.row(name, spread(cost), spread(user), spread(rate, 0))
        table.raw[name] = measured
    for peer in ("node", "conduit (GHC)"):
        if peer in costs:
            table.at_most(f"CPU a line, thrum to {peer}", ratios(costs["thrum"], costs[peer]), 0.75)
    return table
