"""Small files: what do 100,000 of them cost, asked for at random?

Cold: each once, of a server that has just been started; the system has them in memory. Warm: any of them, after that.
64 connections, one core. nginx keeps them open, as many as the system lets it; thrum keeps them in memory; both believe in
them for a minute. thrum's cache as it is by default holds a twelfth of them."""

import random
import resource

from harness import Servers, load, one_worker, scratch, thrum
from peers import installed
from result import compare, cost_table
from web import nginx

NEEDS = ["taskset", "wrk"]
ROUNDS, SECONDS = 3, 3
PROGRAMS = {
    "thrum": "book/chapters/small_files.py#configuration",
    "nginx": "book/web.py#nginx",
    "the load": "book/peers/small_files.lua",
}
FOLDERS, EACH = 100, 1000  # of so many files, as in peers/small_files.lua
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
    if installed("nginx"):
        most = open_files()
        yield "nginx", lambda port: nginx(folder, port, open_files=most, connections=500), None


def run(options):
    with scratch() as folder:
        make_files(folder / "site")
        results = {}
        everyone = list(commands(folder))
        for _ in range(options.rounds):
            for name, command, env in everyone:
                with Servers() as servers:
                    servers.add(name, command, env)
                    target = servers.running[0]
                    once = load(target, "/", 64, COLD_SECONDS, "small_files.lua", arguments=["once", str(FOLDERS)])
                    results.setdefault(f"{name}, cold", []).append(once)
                    warm = load(target, "/", 64, options.seconds, "small_files.lua", arguments=["any", str(FOLDERS)])
                    results.setdefault(f"{name}, warm", []).append(warm)
        result = cost_table(results, "100,000 small files at random: what a request costs")
        for heat in ["cold", "warm"]:
            compare(result, results, "CPU a request", f"thrum, {heat}", f"nginx, {heat}", 1.0)
        return result
