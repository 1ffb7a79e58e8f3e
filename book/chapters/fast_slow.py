"""Fast and slow: what becomes of two things at once, and of a fast request beside a slow one?

The questions of the article about node and Haskell. Two Fibonacci numbers, computed in the program itself (local) or by a
server (remote), one after the other and at once. Then a client that asks for a fast route without pause, alone and beside one
request that computes for longer than that, of a server on one core and on two."""

import subprocess
import time

from harness import TWO_CORES, Servers, load, programs_in_turns, thrum, workers
from peers import BOOK, build, build_haskell, installed, tokio
from result import Result, ratios, spread

LOCAL, SLOW = 41, 48

NEEDS = ["taskset", "wrk", "curl"]
ROUNDS, SECONDS = 3, 2
PROGRAMS = {
    "thrum": "examples/cpu.rs",
    "node": "book/peers/cpu.js",
    "GHC": "book/peers/cpu.hs",
    "Go": "book/peers/cpu.go",
    "tokio": "book/peers/tokio/src/bin/cpu.rs",
    "thrum, the server": "examples/fibs.rs",
    "node, the server": "book/peers/fast_slow.js",
    "Warp, the server": "book/peers/fast_slow.hs",
    "Go, the server": "book/peers/fast_slow.go",
    "tokio + hyper, the server": "book/peers/tokio/src/bin/fast_slow.rs",
}
MEANING = """A half is all that two cores can give. The task that is spawned second does not wait behind the first: a parked worker takes it
from its queue. Who waits for a server can wait for two at once in each of them; who computes can in node only do one after the
other.

A server's event loop cannot leave a handler that computes, and a scheduler that preempts it gives it a whole slice each time.
GHC preempts at allocations: a loop that allocates nothing keeps its core, unless it is compiled with `-fno-omit-yields`, which
is shown apart. thrum moves everybody else to another thread of the system. With two cores the load shares the second one."""


def run(options):
    result = Result()
    local_and_remote(options, result)
    fast_only_and_with_slow(options, result)
    return result


def local_and_remote(options, result: Result):
    programs = {"thrum": thrum("cpu")}
    if installed("node"):
        programs["node"] = ["node", BOOK / "peers" / "cpu.js"]
    if ghc := build_haskell("cpu.hs", "network"):
        programs["GHC"] = [ghc, "+RTS", "-N2", "-RTS"]
    if go := build("cpu.go"):
        programs["Go"] = [go]
    if twin := tokio("cpu"):
        programs["tokio"] = [twin]
    table = result.table(["program", "where", "one after the other, s", "at once, s", "ratio"], "Two Fibonacci numbers, two cores")
    chart = {}
    with Servers() as servers:
        servers.add("the server", lambda port: thrum("fibs", f"127.0.0.1:{port}"), workers(2), cores=TWO_CORES)
        for where, what in [("local", LOCAL), ("remote", servers.running[0].url(f"/fib/{LOCAL}"))]:
            commands = {name: ["taskset", "-c", TWO_CORES, *command, what] for name, command in programs.items()}
            for name, runs in programs_in_turns(commands, options).items():
                figures = {words: [each.figure(words) for each in runs] for words in ("one after the other", "at once", "ratio")}
                table.row(name, where, *map(spread, figures.values()))
                result.raw[f"{name}, {where}"] = figures
                chart.setdefault(where, {})[name] = figures["ratio"]
    title = "Two Fibonacci numbers at once, to one after the other, two cores"
    result.bar_chart(title, "ratio of the times: 0.5 is twice as fast, 1 is no gain", chart)
    for where in ("local", "remote"):
        result.at_most(f"at once to one after the other, {where}", chart[where]["thrum"], 0.55)


def everyone() -> list:
    """The servers: a name, a command for a port and so many cores, and its environment."""
    found = [("thrum", lambda port, cores: thrum("fibs", f"127.0.0.1:{port}"), workers)]
    if twin := tokio("fast_slow"):
        found.append(("tokio + hyper", lambda port, cores: [twin, port], None))
    if go := build("fast_slow.go"):
        found.append(("Go", lambda port, cores: [go, port], lambda cores: {"GOMAXPROCS": str(cores)}))
    if warp := build_haskell("fast_slow.hs", "warp"):
        found.append(("Warp", lambda port, cores: [warp, port, "+RTS", f"-N{cores}"], None))
        yields = build_haskell("fast_slow.hs", "warp", flags=("-fno-omit-yields",), name="fast_slow_yields")
        found.append(("Warp, yields", lambda port, cores: [yields, port, "+RTS", f"-N{cores}"], None))
    if installed("node"):
        found.append(("node", lambda port, cores: ["node", BOOK / "peers" / "fast_slow.js", port], None))
    return found


def fast_only_and_with_slow(options, result: Result):
    columns = ["server", "cores", "fast only, requests/s", "fast with slow, requests/s", "kept", "p99 with slow, ms"]
    table = result.table(columns, "One client, asking a fast route without pause")
    found = everyone()
    for cores in (1, 2):
        chart = {}
        measured = {name: [] for name, _, _ in found}
        for _ in range(options.rounds):
            for name, command, env in found:
                measured[name].append(measure(options, name, command, env, cores))
        for name, pairs in measured.items():
            alone, beside = ([load.rate for load in loads] for loads in zip(*pairs))
            kept = ratios(beside, alone)
            waits = spread([load.p99_ms for _, load in pairs])
            table.row(name, str(cores), spread(alone, 0), spread(beside, 0), spread(kept), waits)
            result.raw[f"{name}, {cores} cores"] = {"alone": alone, "beside": beside}
            chart[name] = {"fast only": alone, "fast with slow": beside}
            if name == "thrum":
                result.at_least(f"kept, {cores} core{'s' * (cores > 1)}", kept, 0.9)
        title = f"A fast route alone and beside one slow request, {cores} core{'s' * (cores > 1)}"
        result.bar_chart(title, "requests a second of one client, more is better", chart)


def measure(options, name: str, command, env, cores: int):
    """The load alone and beside a slow request, of a server that is then ended with what it computes."""
    with Servers() as servers:
        where = "0" if cores == 1 else TWO_CORES
        servers.add(name, lambda port: command(port, cores), env and env(cores), cores=where)
        target = servers.running[0]
        load(target, "/", 1, 1)
        alone = load(target, "/", 1, options.seconds)
        slow = subprocess.Popen(["curl", "-s", "-m", "60", "-o", "/dev/null", target.url(f"/fib/{SLOW}")])
        time.sleep(0.2)
        beside = load(target, "/", 1, options.seconds, may_starve=True)
        slow.kill()
        slow.wait()
    return alone, beside
