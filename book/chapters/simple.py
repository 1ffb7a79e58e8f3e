"""Simple servers: what does a connection cost that is accepted, answered once and closed, in three styles?

A thread of the operating system for each, a task for each, or callbacks of a bare event loop; and the three programs of the
Haskell wiki, with strings, with byte strings and with callbacks. 64 clients at a time, one core."""

from harness import Servers, in_turns, load, one_worker, thrum
from peers import build_haskell
from result import compare, cost_table, series

NEEDS = ["taskset", "wrk"]
ROUNDS, SECONDS = 3, 2
PROGRAMS = {
    "threads": "examples/simple/threads.rs",
    "thrum tasks": "examples/simple/tasks.rs",
    "callbacks": "examples/simple/callbacks.rs",
    "GHC": "book/peers/simple.hs",
}
MEANING = """All of them read what is asked for without understanding it, as the originals did. Most of it is the kernel's: to make a
connection and to take it down. What is left is what a style adds: a thread of the system is made and ended for each connection,
a task is a small piece of memory, a callback is a table's entry. The tasks' program reads like the threads', and does what the
callbacks' does."""


def run(options):
    with Servers() as servers:
        servers.add("thrum tasks", lambda port: thrum("simple_tasks", f"127.0.0.1:{port}"), one_worker())
        for style in ("threads", "callbacks"):
            servers.add(style, lambda port: thrum(f"simple_{style}", f"127.0.0.1:{port}"))
        if ghc := build_haskell("simple.hs", "network"):
            for style in ("string", "bytestring", "callbacks"):
                servers.add(f"GHC {style}", lambda port: [ghc, port, style, "+RTS", "-N1"])
        results = in_turns(servers.running, options, lambda target: load(target, "/", 64, options.seconds, close=True))
    result = cost_table(results, "Simple servers: what a connection costs", what="connection")
    title = "Simple servers: connections a second on one core"
    result.bar_chart(title, "connections a second, more is better", series(results, "rate"))
    compare(result, results, "CPU a connection", "thrum tasks", "callbacks", 1.15)
    compare(result, results, "CPU a connection", "thrum tasks", "threads", 0.75)
    return result
