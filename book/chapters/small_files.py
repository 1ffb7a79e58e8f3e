"""Small files: 100,000 of them, asked for at random.

Cold: each once, of a server that has just been started; the system has them in memory. Warm: any of them, after that.
64 connections, one core. nginx keeps them open, as many as the system lets it; thrum keeps them in memory; both believe in
them for a minute. thrum's cache as it is by default holds a twelfth of them."""

import random
import resource
from contextlib import ExitStack

from harness import compare, cost_table, free_port, load, missing, one_worker, scratch, server, thrum
from web import nginx

NEEDS = ["taskset", "wrk"]
FOLDERS, EACH = 100, 1000  # as in peers/small_files.lua
# wrk stays for as long as it is told to, though it has asked for all of them.
COLD_SECONDS = 10
MEANING = """A file that is kept is sent in one write with its head, without a system call for itself. One that is not costs an openat2, an
fstat, a read and a close, and one step of a clock that finds the file to go."""


def make_files(site):
    """Files of 200 to 3,800 bytes, the same in every run."""
    sizes = random.Random(612)
    for folder in range(FOLDERS):
        (site / f"{folder:02}").mkdir()
        for number in range(EACH):
            (site / f"{folder:02}" / f"{number:03}.html").write_bytes(b"x" * sizes.randint(200, 3800))


def configuration(folder, port, settings):
    path = folder / f"thrum-{port}.conf"
    path.write_text(f"127.0.0.1:{port} {{\n    / -> {folder}/site {{ {settings} }}\n}}\n")
    return path


def open_files() -> int:
    """How many of them nginx can keep open."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (3 * FOLDERS * EACH,) * 2)
        return 2 * FOLDERS * EACH
    except (ValueError, OSError):
        print(f"nginx keeps {most - 1000} files open: the system allows no more")
        return most - 1000


def commands(folder):
    """Each server, for a port: its name, command and environment."""
    large = f"file-cache {{ entries {2 * FOLDERS * EACH}; size 1GiB; recheck 1m }}"
    for name, settings in [("thrum", large), ("thrum, default cache", "")]:
        yield name, lambda port, settings=settings: thrum("thrum", "run", configuration(folder, port, settings)), one_worker()
    if missing("nginx"):
        print("skipped: nginx (not installed)")
    else:
        most = open_files()
        yield "nginx", lambda port: nginx(folder, port, open_files=most, connections=500), None


def run(options):
    with scratch() as folder:
        make_files(folder / "site")
        results = {}
        servers = list(commands(folder))
        for _ in range(options.rounds):
            for name, command, env in servers:
                port = free_port()
                with ExitStack() as stack:
                    target = stack.enter_context(server(name, command(port), port, env))
                    once = load(target, "/", 64, COLD_SECONDS, "small_files.lua", arguments=["once"])
                    results.setdefault(f"{name}, cold", []).append(once)
                    warm = load(target, "/", 64, options.seconds, "small_files.lua")
                    results.setdefault(f"{name}, warm", []).append(warm)
        table = cost_table(results)
        for heat in ["cold", "warm"]:
            compare(table, results, "CPU a request", f"thrum, {heat}", f"nginx, {heat}", 1.0)
        return table
