"""Pong: what does an HTTP server cost over a bare event loop?

A short answer over keep-alive, 64 connections, one core. `floor_epoll` is a loop in C that does not even parse."""

from contextlib import ExitStack

from harness import compare, cost_table, in_turns, load
from web import pong_servers

NEEDS = ["taskset", "wrk"]
MEANING = """Most of a request is the kernel: a read, a write, and its share of a wait. What is above the floor is parsing, the response
head, and the scheduler. User and system are told apart by the kernel's tick, to about a tenth of a microsecond a round."""


def run(options):
    with ExitStack() as stack:
        measure = lambda target: load(target, "/", 64, options.seconds)
        results = in_turns(pong_servers(stack, floor=True), options, measure)
    table = cost_table(results)
    compare(table, results, "CPU a request", "thrum pong", "floor_epoll", 1.08)
    compare(table, results, "CPU a request", "thrum pong", "hyper", 1.0)
    compare(table, results, "CPU a request", "thrum pong", "nginx", 1.0)
    table.at_most("user part, us", [load.user_us for load in results["thrum pong"]], 0.5)
    return table
