"""axum: what does a router of fifty routes cost on thrum and on tokio + hyper, from the same source?

State, parameters, queries, JSON both ways and a middleware; 64 connections, one core."""

from harness import Servers, in_turns, load, one_worker, thrum
from peers import tokio
from result import compare, cost_table

NEEDS = ["taskset", "wrk"]
ROUNDS, SECONDS = 3, 2
PROGRAMS = {
    "both": "examples/routes/router.rs",
    "thrum": "examples/routes/main.rs",
    "tokio + hyper": "book/peers/tokio/src/bin/routes.rs",
    "the load": "book/peers/routes.lua",
}
MEANING = """The router and the handlers are the same code on both sides, so that the difference is in the engine below them: reading a
head, running the handler, and writing the answer."""


def run(options):
    with Servers() as servers:
        servers.add("thrum", lambda port: thrum("routes", f"127.0.0.1:{port}"), one_worker())
        if twin := tokio("routes"):
            servers.add("tokio + hyper", lambda port: [twin, port])
        measure = lambda target: load(target, "/", 64, options.seconds, "routes.lua")
        results = in_turns(servers.running, options, measure)
    result = cost_table(results, "An axum application: what a request costs")
    compare(result, results, "CPU a request", "thrum", "tokio + hyper", 0.95)
    return result
