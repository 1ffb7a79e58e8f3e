"""The client: what does a GET cost the one who asks?

64 connections that are kept, each answer read to its end and checked. The server is `floor_epoll` on the first core,
the client runs on the second."""

from harness import LOADER, Load, Run, Servers, programs_in_turns, thrum
from peers import build, tokio
from result import compare, cost_table

CONNECTIONS = 64

NEEDS = ["taskset", "cc"]
ROUNDS, SECONDS = 3, 2
PROGRAMS = {"thrum": "examples/gets.rs", "hyper": "book/peers/tokio/src/bin/client.rs"}
MEANING = """hyper's connection is what its users build pools from; its pool is the client that they are given. thrum's client is a pool. The
CPU time is that of the client's process."""


def run(options):
    with Servers() as servers:
        floor = build("floor_epoll.c")
        servers.add("floor_epoll", lambda port: [floor, port])
        load = [servers.running[0].port, options.seconds, CONNECTIONS]
        programs = {"thrum": [*LOADER, "env", "THRUM_WORKERS=1", *thrum("gets", *load)]}
        if twin := tokio("client"):
            programs |= {f"hyper, {kind}": [*LOADER, twin, *load, kind] for kind in ("connection", "pool")}
        results = {name: list(map(cost, runs)) for name, runs in programs_in_turns(programs, options).items()}
    result = cost_table(results, "GETs over 64 connections: what one costs the client", "client")
    compare(result, results, "CPU a request", "thrum", "hyper, connection", 0.9)
    compare(result, results, "CPU a request", "thrum", "hyper, pool", 0.9)
    return result


def cost(run: Run) -> Load:
    """What the client's process cost."""
    count = run.figure("answers")
    return Load(run.figure("answers a second"), None, run.cpu_s / count * 1e6, run.user_s / count * 1e6)
