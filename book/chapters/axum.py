"""axum: a router of fifty routes, on thrum and on tokio + hyper, the same source.

State, parameters, queries, JSON both ways and a middleware; 64 connections, one core."""

from contextlib import ExitStack

from harness import compare, cost_table, free_port, in_turns, load, one_worker, server, thrum, tokio

NEEDS = ["taskset", "wrk"]
MEANING = """The router and the handlers are the same code on both sides, so that the difference is in the engine below them: reading a
head, running the handler, and writing the answer."""


def run(options):
    with ExitStack() as stack:
        port = free_port()
        servers = [stack.enter_context(server("thrum", thrum("routes", f"127.0.0.1:{port}"), port, one_worker()))]
        if twin := tokio("routes"):
            port = free_port()
            servers.append(stack.enter_context(server("tokio + hyper", [twin, port], port)))
        measure = lambda target: load(target, "/", 64, options.seconds, "routes.lua")
        results = in_turns(servers, options, measure)
    table = cost_table(results)
    compare(table, results, "CPU a request", "thrum", "tokio + hyper", 0.95)
    return table
