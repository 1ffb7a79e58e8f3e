"""Pong: what does an HTTP server cost over a bare event loop?

A short answer over keep-alive, 64 connections, one core. `floor_epoll` is a loop in C that does not even parse."""

from harness import Servers, in_turns, load
from result import compare, cost_table
from web import pong_servers

NEEDS = ["taskset", "wrk"]
ROUNDS, SECONDS = 3, 2
PROGRAMS = {
    "thrum": "examples/pong.rs",
    "hyper": "book/peers/tokio/src/bin/pong.rs",
    "Warp": "book/peers/fast_slow.hs",
    "Go": "book/peers/pong.go",
    "node": "book/peers/fast_slow.js",
    "nginx": "book/web.py#nginx",
    "the floor": "book/peers/floor_epoll.c",
}
MEANING = """Most of a request is the kernel: a read, a write, and its share of a wait. What is above the floor is parsing, the response
head, and the scheduler. User and system are told apart by the kernel's tick, to about a tenth of a microsecond a round."""


def run(options):
    with Servers() as servers:
        measure = lambda target: load(target, "/", 64, options.seconds)
        results = in_turns(pong_servers(servers, all_of_them=True), options, measure)
    result = cost_table(results, "Pong over keep-alive, 64 connections: what a request costs")
    compare(result, results, "CPU a request", "thrum pong", "floor_epoll", 1.08)
    compare(result, results, "CPU a request", "thrum pong", "hyper", 1.0)
    compare(result, results, "CPU a request", "thrum pong", "nginx", 1.0)
    result.at_most("user part, us", [load.user_us for load in results["thrum pong"]], 0.5)
    return result
