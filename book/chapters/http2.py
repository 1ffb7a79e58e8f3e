"""HTTP/2: 16 connections with 32 streams each, with prior knowledge and over TLS 1.3.

The answer is that of pong; one core. The load is h2load."""

from contextlib import ExitStack

from harness import compare, cost_table, in_turns
from web import load_http2, pong_servers

CONNECTIONS, STREAMS = 16, 32

NEEDS = ["taskset", "h2load", "openssl"]
MEANING = """Frames of many streams share a read and a write, as requests of a burst do; what is left is framing, HPACK and the state of a
stream. The difference between the two loads is the records of TLS."""


def run(options):
    results = {}
    for words, tls in [("", False), (", TLS", True)]:
        with ExitStack() as stack:
            measure = lambda target: load_http2(target, CONNECTIONS, STREAMS, options.seconds)
            measured = in_turns(pong_servers(stack, http2=True, tls=tls), options, measure)
        results |= {name + words: loads for name, loads in measured.items()}
    table = cost_table(results)
    compare(table, results, "CPU a request", "thrum pong", "nginx", 1.0)
    compare(table, results, "CPU a request", "thrum pong, TLS", "nginx, TLS", 1.0)
    return table
