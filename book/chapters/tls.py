"""TLS 1.3: what do records cost, a full handshake, and a resumed one?

Pong over keep-alive with 64 connections, and connections that ask once, 16 at a time; one core. The certificate's key is
ECDSA on P-256."""

from harness import LOADER, Load, Servers, in_turns, load, run_program
from peers import build
from result import compare, cost_table, series
from web import pong_servers

AT_ONCE = 16

NEEDS = ["taskset", "wrk", "openssl", "cc"]
ROUNDS, SECONDS = 3, 2
PROGRAMS = {
    "thrum": "examples/pong_tls.rs",
    "hyper": "book/peers/tokio/src/bin/pong.rs",
    "nginx": "book/web.py#nginx",
    "the handshakes": "book/peers/handshakes.c",
}
MEANING = """A full handshake is a key agreement and a signature, a resumed one is a key agreement and a ticket. Both are counted with the
connection that they are for: it is accepted, asks once, and is closed."""


def run(options):
    client = build("handshakes.c", "-lssl", "-lcrypto", "-pthread")

    def handshakes(kind: str):
        def measure(target) -> Load:
            """The program ends with an error if what should be resumed is not."""
            before = target.cpu_seconds()
            done = run_program([*LOADER, client, target.port, options.seconds, AT_ONCE, kind])
            after = target.cpu_seconds()
            count = done.figure("handshakes")
            total, user = ((end - begin) / count * 1e6 for begin, end in zip(before, after))
            return Load(done.figure("handshakes a second"), None, total, user)

        return measure

    jobs = {
        "keep-alive": lambda target: load(target, "/", 64, options.seconds),
        "full handshakes": handshakes("new"),
        "resumed handshakes": handshakes("resumed"),
    }
    with Servers() as servers:
        running = pong_servers(servers, tls=True)
        measured = {job: in_turns(running, options, measure) for job, measure in jobs.items()}
    results = {f"{name}, {job}": loads for job, seen in measured.items() for name, loads in seen.items()}
    result = cost_table(results, who="server and job", what="job")
    for job, seen in measured.items():
        result.bar_chart(f"TLS 1.3, {job}: what one costs the server", "µs of CPU, less is better", series(seen, "cpu_us"))
    for job in jobs:
        compare(result, results, "CPU each", f"thrum pong, {job}", f"nginx, {job}", 1.0)
    return result
