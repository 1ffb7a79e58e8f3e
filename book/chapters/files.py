"""Files: a 612-byte page over keep-alive, with the access log off and on.

64 connections, one core. The log is in Combined format, to a file."""

from contextlib import ExitStack

from harness import compare, cost_table, free_port, in_turns, load, missing, one_worker, scratch, server, thrum
from web import lighttpd, nginx

NEEDS = ["taskset", "wrk"]
MEANING = """A small file rides in the same write as its head, instead of a sendfile of its own. The log is formatted into a buffer that
another thread writes, so that no request waits for a disk."""


def run(options):
    with scratch() as folder, ExitStack() as stack:
        servers = []

        def add(name, command, port, env=None):
            servers.append(stack.enter_context(server(name, command, port, env)))

        for name, log in [("thrum", "off"), ("thrum, log", folder / "thrum.log")]:
            port = free_port()
            serve = thrum("thrum", "serve", folder / "site", "--listen", f"127.0.0.1:{port}", "--log", log, "--quiet")
            add(name, serve, port, one_worker())
        if not missing("nginx"):
            for name, log in [("nginx", None), ("nginx, log", folder / "nginx.log")]:
                port = free_port()
                add(name, nginx(folder, port, log=log), port)
        if not missing("lighttpd"):
            port = free_port()
            add("lighttpd", lighttpd(folder, port), port)
        for peer in missing("nginx", "lighttpd"):
            print(f"skipped: {peer} (not installed)")
        results = in_turns(servers, options, lambda target: load(target, "/index.html", 64, options.seconds))
        table = cost_table(results)
        compare(table, results, "CPU a request", "thrum", "nginx", 0.75)
        compare(table, results, "CPU a request", "thrum", "lighttpd", 1.0)
        compare(table, results, "CPU a request", "thrum, log", "nginx, log", 0.70)
        compare(table, results, "CPU a request", "thrum, log", "thrum", 1.05)
        return table
