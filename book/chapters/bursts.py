"""Bursts: twenty requests in one segment, as httperf's --burst-length sends them.

All that is there is answered, and written once. 64 connections, one core."""

from contextlib import ExitStack

from harness import compare, cost_table, in_turns, load, pong_servers

NEEDS = ["taskset", "wrk"]
MEANING = """The system calls are shared by twenty requests, so that what is left is what the server itself spends on each."""


def run(options):
    with ExitStack() as stack:
        measure = lambda target: load(target, "/", 64, options.seconds, "burst.lua")
        results = in_turns(pong_servers(stack), options, measure)
    table = cost_table(results)
    compare(table, results, "requests a second", "thrum pong", "nginx", 6, least=True, of="rate")
    return table
