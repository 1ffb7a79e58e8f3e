"""Cost of scale: what does one cost, if there are 1, 10 and 100 times as many of them?

Files that are asked for at random, connections that all ask, routes of which the last is asked for, timers that are started and
dropped, tasks that wait for a start and a stop. One core for servers, two for the rest."""

from pathlib import Path

from chapters.small_files import configuration, make_files
from harness import TWO_CORES, Servers, load, one_worker, programs_in_turns, scratch, thrum
from peers import installed, tokio
from result import Result, ratios, spread
from web import PONG, nginx, thrum_pong

FOLDERS = [1, 10, 100]  # of 1,000 files each
CONNECTIONS = [100, 1_000, 10_000]
ROUTES = [10, 100, 1_000]
TIMERS = [10_000, 100_000, 1_000_000]
TASKS = [10_000, 100_000, 1_000_000]
# How much more one may cost if there are 100 times as many. Files and timers leave the processor's caches.
BARS = {"files": 4, "connections": 2, "routes": 2, "timers": 4, "tasks": 2}

NEEDS = ["taskset", "wrk"]
ROUNDS, SECONDS = 3, 2
PROGRAMS = {
    "thrum, files": "book/chapters/small_files.py#configuration",
    "thrum, connections": "examples/pong.rs",
    "thrum, routes": "book/chapters/scale.py#thrum_routes",
    "thrum, timers": "examples/timers.rs",
    "thrum, tasks": "examples/spawn.rs",
    "nginx, routes": "book/chapters/scale.py#nginx_routes",
    "nginx": "book/web.py#nginx",
    "hyper, connections": "book/peers/tokio/src/bin/pong.rs",
    "tokio, timers": "book/peers/tokio/src/bin/timers.rs",
    "tokio, tasks": "book/peers/tokio/src/bin/spawn.rs",
}
MEANING = """Where a line is flat, how many there are does not matter. What grows is memory that no longer fits into the processor's caches,
which a hundred times as many of anything touch; what would grow with their number itself, a list that is searched or a table
that is looked through, would be a hundred times as high at the end."""

# Of each server or program its rounds at each scale.
Costs = dict[str, list[list[float]]]


def run(options):
    result = Result()
    table = result.table(["job", "program", "1x", "10x", "100x", "100x to 1x"])
    jobs = [
        ("files", "µs of CPU a request", [1000 * folders for folders in FOLDERS], files(options)),
        ("connections", "µs of CPU a request", CONNECTIONS, connections(options)),
        ("routes", "µs of CPU a request", ROUTES, routes(options)),
        ("timers", "ns to start one and drop it", TIMERS, timers(options)),
        ("tasks", "µs of CPU a task", TASKS, tasks(options)),
    ]
    for job, unit, sizes, costs in jobs:
        lines = {}
        for name, scales in costs.items():
            table.row(f"{sizes[0]:,} to {sizes[-1]:,} {job}, {unit}", name, *map(spread, scales), spread(growth(scales)))
            lines[name] = list(zip(sizes, scales))
            result.raw[f"{name}, {job}"] = scales
        result.line_chart(f"What one costs, by the number of {job}", f"{job}, logarithmic", f"{unit}, less is better", lines, log="x")
        result.at_most(f"{job}, 100 times as many to one time", growth(costs["thrum"]), BARS[job])
    return result


def growth(scales: list[list[float]]) -> list[float]:
    """How much more one costs if there are the most, round by round."""
    return ratios(scales[-1], scales[0])


def loads(options, sizes: list, start, ask) -> Costs:
    """The CPU time of a request, of servers that are started for each size and asked in turns."""
    costs = {}
    for place, size in enumerate(sizes):
        with Servers() as servers:
            start(servers, size)
            for target in servers.running:
                ask(target, size, 1)
            for _ in range(options.rounds):
                for target in servers.running:
                    scales = costs.setdefault(target.name, [[] for _ in sizes])
                    scales[place].append(ask(target, size, options.seconds).cpu_us)
    return costs


def files(options) -> Costs:
    with scratch() as folder:
        make_files(folder / "site")

        def start(servers, folders):
            entries = 2 * 1000 * folders
            cache = f"file-cache {{ entries {entries}; size 1GiB; recheck 1m }}"
            servers.add("thrum", lambda port: thrum("thrum", "run", configuration(folder, port, cache)), one_worker())
            if installed("nginx"):
                servers.add("nginx", lambda port: nginx(folder, port, open_files=min(entries, 15_000), connections=500))
            for target in servers.running:
                load(target, "/", 64, max(1, folders // 10), "small_files.lua", arguments=["once", str(folders)])

        ask = lambda target, folders, seconds: load(target, "/", 64, seconds, "small_files.lua", arguments=["any", str(folders)])
        return loads(options, FOLDERS, start, ask)


def connections(options) -> Costs:
    with scratch() as folder:

        def start(servers, count):
            servers.add("thrum", thrum_pong, one_worker())
            if twin := tokio("pong"):
                servers.add("hyper", lambda port: [twin, port, "http1"])
            if installed("nginx"):
                servers.add("nginx", lambda port: nginx(folder, port, location=PONG, connections=count * 9 // 8))

        # It takes a while to connect.
        return loads(options, CONNECTIONS, start, lambda target, count, seconds: load(target, "/", count, seconds + count // 2_500))


def thrum_routes(folder: Path, port: int, count: int) -> Path:
    file = folder / f"thrum-{port}.conf"
    lines = "".join(f"    /route{number} respond 200 Pong\n" for number in range(count))
    file.write_text(f"127.0.0.1:{port} {{\n{lines}}}\n")
    return file


def nginx_routes(folder: Path, port: int, count: int) -> list:
    return nginx(folder, port, location="".join(f"location /route{number} {{ return 200 Pong; }}\n" for number in range(count)))


def routes(options) -> Costs:
    with scratch() as folder:

        def start(servers, count):
            servers.add("thrum", lambda port: thrum("thrum", "run", thrum_routes(folder, port, count)), one_worker())
            if installed("nginx"):
                servers.add("nginx", lambda port: nginx_routes(folder, port, count))

        return loads(options, ROUTES, start, lambda target, count, seconds: load(target, f"/route{count - 1}", 64, seconds))


def programs(options, program: str, sizes: list[int], cost) -> Costs:
    """What a run cost, of thrum's program and its twin."""
    costs = {}
    commands = {"thrum": thrum(program)}
    if twin := tokio(program):
        commands["tokio"] = [twin]
    for size in sizes:
        running = {name: ["taskset", "-c", TWO_CORES, *command, size] for name, command in commands.items()}
        for name, runs in programs_in_turns(running, options).items():
            costs.setdefault(name, []).append([cost(each, size) for each in runs])
    return costs


def timers(options) -> Costs:
    return programs(options, "timers", TIMERS, lambda run, _: run.figure("start") + run.figure("drop"))


def tasks(options) -> Costs:
    return programs(options, "spawn", TASKS, lambda run, count: run.cpu_s / count * 1e6)
