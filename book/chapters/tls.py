"""TLS 1.3: what do records cost, a full handshake, and a resumed one?

Pong over keep-alive with 64 connections, and connections that ask once, 16 at a time; one core. The certificate's key is
ECDSA on P-256."""

from contextlib import ExitStack

from harness import LOADER, Load, build, compare, cost_table, in_turns, load, run_program
from web import pong_servers

AT_ONCE = 16

NEEDS = ["taskset", "wrk", "openssl", "cc"]
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
    with ExitStack() as stack:
        servers = pong_servers(stack, tls=True)
        results = {
            f"{name}, {job}": loads
            for job, measure in jobs.items()
            for name, loads in in_turns(servers, options, measure).items()
        }
    table = cost_table(results)
    for job in jobs:
        compare(table, results, "CPU each", f"thrum pong, {job}", f"nginx, {job}", 1.0)
    return table
