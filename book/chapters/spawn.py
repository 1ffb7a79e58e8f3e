"""Lightweight threads: how much memory do a hundred thousand take, a million, ten million?

Each waits for a start and then for a stop variable. It is the peak of the whole process."""

from harness import peak_memory, thrum
from peers import build, skip, tokio
from result import Result, spread

COUNTS = [100_000, 1_000_000, 10_000_000]
BARS = {100_000: 35, 1_000_000: 350}

NEEDS = []
# Each run lasts as long as it takes to make them, and three seconds.
ROUNDS, SECONDS = 3, 0
PROGRAMS = {
    "thrum": "examples/spawn.rs",
    "GHC": "book/peers/spawn.hs",
    "Go": "book/peers/spawn.go",
    "tokio": "book/peers/tokio/src/bin/spawn.rs",
}
MEANING = """A task is as large as what it keeps across an await, a stack as large as its smallest size. Nobody is asked for more threads
than would fit into three quarters of the memory that is free, by what the number before took."""


def run(options):
    result = Result()
    table = result.table(["program", "threads", "peak, MB", "bytes a thread"])
    programs = {"thrum": lambda count: thrum("spawn", count)}
    if twin := tokio("spawn"):
        programs["tokio"] = lambda count: [twin, count]
    if go := build("spawn.go"):
        programs["Go"] = lambda count: [go, count]
    if ghc := build("spawn.hs"):
        programs["GHC"] = lambda count: [ghc, count, "+RTS", "-N1"]
    lines = {name: [] for name in programs}
    for before, count in zip([None, *COUNTS], COUNTS):
        # The more there are, the less an accident matters.
        rounds = max(1, options.rounds - COUNTS.index(count))
        for name, command in programs.items():
            if before and not fits(lines[name], before, count):
                skip(f"{name}, {count:,} threads", f"{free_mb() / 1e3:.0f} GB of memory are too few")
                continue
            peaks = [peak_memory(command(count)) for _ in range(rounds)]
            lines[name].append((count, peaks))
            each = [peak * 1e6 / count for peak in peaks]
            table.row(name, f"{count:,}", spread(peaks, 1), spread(each, 0))
            result.raw[f"{name} {count}"] = peaks
            if name == "thrum" and count in BARS:
                result.at_most(f"MB for {count:,} threads", [max(peaks)], BARS[count])
    result.line_chart("Parked lightweight threads: memory of the process", "threads", "MB at the peak, less is better", lines)
    return result


def fits(line: list, before: int, count: int) -> bool:
    """Whether so many threads are likely to have room, by what fewer took."""
    return bool(line) and line[-1][0] == before and max(line[-1][1]) * count / before < 0.75 * free_mb()


def free_mb() -> float:
    with open("/proc/meminfo") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable")) / 1024
