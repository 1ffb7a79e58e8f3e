"""Bursts: twenty requests in one segment, as httperf's --burst-length sends them.

All that is there is answered, and written once. 64 connections, one core."""

from contextlib import ExitStack

from harness import compare, cost_table, in_turns, load
from web import pong_servers

NEEDS = ["taskset", "wrk"]
MEANING = """The system calls are shared by twenty requests, so that what is left is what the server itself spends on each. hyper is
measured with `pipeline_flush`, without which it writes each answer by itself. The bars are about the server's CPU time, since
the load is busy with as much as the fastest of them answers."""


def run(options):
    with ExitStack() as stack:
        measure = lambda target: load(target, "/", 64, options.seconds, "burst.lua")
        results = in_turns(pong_servers(stack, floor=True), options, measure)
    table = cost_table(results)
    compare(table, results, "requests a second of CPU", "thrum pong", "hyper", 1.05, least=True, of="per_cpu_second")
    compare(table, results, "requests a second of CPU", "thrum pong", "nginx", 8, least=True, of="per_cpu_second")
    return table
