"""The client: GETs over 64 connections that are kept, each answer read to its end and checked.

The server is `floor_epoll` on the first core, the client runs on the second."""

from contextlib import ExitStack

from harness import LOADER, Load, Run, build, compare, cost_table, free_port, programs_in_turns, server, thrum, tokio

CONNECTIONS = 64

NEEDS = ["taskset", "cc"]
MEANING = """hyper's connection is what its users build pools from; its pool is the client that they are given. thrum's client is a pool. The
CPU time is that of the client's process."""


def run(options):
    with ExitStack() as stack:
        port = free_port()
        stack.enter_context(server("floor_epoll", [build("floor_epoll.c"), port], port))
        load = [port, options.seconds, CONNECTIONS]
        programs = {"thrum": [*LOADER, "env", "THRUM_WORKERS=1", *thrum("gets", *load)]}
        if twin := tokio("client"):
            programs |= {f"hyper, {kind}": [*LOADER, twin, *load, kind] for kind in ("connection", "pool")}
        results = {name: list(map(cost, runs)) for name, runs in programs_in_turns(programs, options).items()}
    table = cost_table(results, "client")
    compare(table, results, "CPU a request", "thrum", "hyper, connection", 0.9)
    compare(table, results, "CPU a request", "thrum", "hyper, pool", 0.9)
    return table


def cost(run: Run) -> Load:
    """What the client's process cost."""
    count = run.figure("answers")
    return Load(run.figure("answers a second"), None, run.cpu_s / count * 1e6, run.user_s / count * 1e6)
