"""Static files: what does a 612-byte page cost, on one worker and on more, with the access log off and on?

The question of Mighttpd's slides. Keep-alive, 64 connections; the log goes to a file."""

import os
from contextlib import suppress
from pathlib import Path

from harness import Servers, in_turns, load, scratch, workers
from peers import installed
from result import Result, compare, cost_table, series, spread
from static import SERVERS

NEEDS = ["taskset", "wrk"]
ROUNDS, SECONDS = 3, 2
PROGRAMS = {
    "thrum": "book/static.py#serve_thrum",
    "nginx": "book/web.py#nginx",
    "Mighttpd": "book/static.py#serve_mighttpd",
    "lighttpd": "book/web.py#lighttpd",
    "h2o": "book/static.py#serve_h2o",
    "Caddy": "book/static.py#serve_caddy",
    "static-web-server": "book/static.py#serve_static_web_server",
}
MEANING = """A small file rides in the same write as its head, instead of a sendfile of its own. The log is formatted into a buffer that
another thread writes, so that no request waits for a disk. Logs are in Combined format, except Caddy's, which is JSON;
static-web-server has none.

Workers have a core each, from the first one on. The load has the cores that are left; if none is, it shares theirs, and then the
CPU time of a request says more than the requests a second."""


def worker_counts() -> list[int]:
    """1, 2, 4 and so on, as many as there are cores."""
    count = os.cpu_count()
    return sorted({min(2**power, count) for power in range(count.bit_length() + 1)})


def cores(count: int) -> tuple[str, str]:
    """Those of the server and of the load."""
    every = [str(core) for core in range(os.cpu_count())]
    return ",".join(every[:count]), ",".join(every[count:] or every)


def measure_all(options, folder: Path, count: int, logged: bool) -> dict:
    """Each server with so many workers."""
    mine, loads = cores(count)
    with Servers() as servers:
        for name, program, serve, has_log in SERVERS:
            if (logged and not has_log) or (program and not installed(program, name)):
                continue
            log = folder / f"{name}.log" if logged else None
            title = f"{name}, log" if logged else name
            servers.add(title, lambda port: serve(folder, port, count, log), workers(count), cores=mine)
        measured = in_turns(servers.running, options, lambda target: load(target, "/index.html", 64, options.seconds, cores=loads))
    for name, _, _, _ in SERVERS:
        with suppress(FileNotFoundError):
            (folder / f"{name}.log").unlink()
    return measured


def run(options):
    result, costs = Result(), {}
    with scratch() as folder:
        for count in worker_counts():
            for logged in (False, True):
                costs[count, logged] = measure_all(options, folder, count, logged)
    one = {**costs[1, False], **costs[1, True]}
    result = cost_table(one)
    result.tables[0].title = "One worker"
    for logged, words in ((False, "log off"), (True, "log on")):
        title = f"Static files, one worker, {words}: what a request costs"
        result.bar_chart(title, "µs of CPU a request, less is better", series(costs[1, logged], "cpu_us"))
    table = result.table(["server", "workers", "CPU a request, us", "requests/s"], "More workers")
    for count in worker_counts()[1:]:
        for logged in (False, True):
            for name, loads in costs[count, logged].items():
                table.row(name, str(count), spread([load.cpu_us for load in loads]), spread([load.rate for load in loads], 0))
                result.raw[f"{name}, {count} workers"] = [vars(load) for load in loads]
    for logged, words in ((False, "log off"), (True, "log on")):
        rates = {name: [(count, [load.rate for load in costs[count, logged][name]]) for count in worker_counts()] for name in costs[1, logged]}
        result.line_chart(f"Static files, {words}: requests a second", "workers", "requests a second, more is better", rates, log="")
    compare(result, one, "CPU a request", "thrum", "nginx", 0.75)
    compare(result, one, "CPU a request", "thrum", "lighttpd", 1.0)
    compare(result, one, "CPU a request", "thrum, log", "nginx, log", 0.70)
    compare(result, one, "CPU a request", "thrum, log", "thrum", 1.05)
    return result
