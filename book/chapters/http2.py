"""HTTP/2: what does a request cost, with prior knowledge and over TLS 1.3?

16 connections with 32 streams each. The answer is that of pong; one core. The load is h2load."""

from harness import Servers, in_turns
from result import compare, cost_table
from web import load_http2, pong_servers

CONNECTIONS, STREAMS = 16, 32

NEEDS = ["taskset", "h2load", "openssl"]
ROUNDS, SECONDS = 3, 2
PROGRAMS = {
    "thrum": "examples/pong.rs",
    "thrum, TLS": "examples/pong_tls.rs",
    "hyper": "book/peers/tokio/src/bin/pong.rs",
    "nginx": "book/web.py#nginx",
}
MEANING = """Frames of many streams share a read and a write, as requests of a burst do; what is left is framing, HPACK and the state of a
stream. The difference between the two loads is the records of TLS."""


def run(options):
    results = {}
    for words, tls in [("", False), (", TLS", True)]:
        with Servers() as servers:
            measure = lambda target: load_http2(target, CONNECTIONS, STREAMS, options.seconds)
            measured = in_turns(pong_servers(servers, http2=True, tls=tls), options, measure)
        results |= {name + words: loads for name, loads in measured.items()}
    result = cost_table(results, "HTTP/2, 512 streams: what a request costs")
    compare(result, results, "CPU a request", "thrum pong", "nginx", 1.0)
    compare(result, results, "CPU a request", "thrum pong, TLS", "nginx, TLS", 1.0)
    return result
