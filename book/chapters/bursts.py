"""Bursts: how many requests a second, if twenty come in one segment, as httperf's --burst-length sends them?

It is the ping-pong of Warp's first benchmarks. All that is there is answered, and written once. 64 connections, one core."""

from harness import Servers, in_turns, load
from result import compare, cost_table, series
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
    "the load": "book/peers/burst.lua",
}
MEANING = """The system calls are shared by twenty requests, so that what is left is what the server itself spends on each. hyper is
measured with `pipeline_flush`, without which it writes each answer by itself. The bars are about the server's CPU time, since
the load is busy with as much as the fastest of them answers."""


def run(options):
    with Servers() as servers:
        measure = lambda target: load(target, "/", 64, options.seconds, "burst.lua")
        results = in_turns(pong_servers(servers, all_of_them=True), options, measure)
    result = cost_table(results, "Bursts of 20 requests: what a request costs")
    title = "Bursts of 20 requests: requests a second on one core"
    result.bar_chart(title, "requests a second, more is better", series(results, "rate"))
    compare(result, results, "requests a second of CPU", "thrum pong", "hyper", 1.05, least=True, of="per_cpu_second")
    compare(result, results, "requests a second of CPU", "thrum pong", "nginx", 8, least=True, of="per_cpu_second")
    return result
