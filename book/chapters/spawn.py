"""A hundred thousand threads, and a million, each waiting for a start and then a stop variable.

Peak resident memory of the whole process."""

import subprocess

from harness import Result, build, spread, thrum, tokio

COUNT, MANY = 100_000, 1_000_000

NEEDS = []
MEANING = """A task is as large as what it keeps across an await, a stack as large as its smallest size. A million of them are left to those
that need less than a gigabyte for it."""


def peak_mb(command) -> float:
    """Peak memory of one run, by GNU time's own means: the children's high-water mark of a fresh process."""
    probe = "import resource,subprocess,sys;subprocess.run(sys.argv[1:],stdout=subprocess.DEVNULL,check=True);print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    output = subprocess.run(["python3", "-c", probe, *map(str, command)], capture_output=True, text=True, check=True)
    return int(output.stdout) / 1024


def run(options):
    table = Result(["program", "threads", "peak, MB"])
    twin, go, ghc = tokio("spawn"), build("spawn.go"), build("spawn.hs")

    def row(name, count, command, bar=None):
        peaks = [peak_mb(command) for _ in range(min(3, options.rounds))]
        table.row(name, f"{count:,}", spread(peaks, 1))
        table.raw[f"{name} {count}"] = peaks
        if bar:
            table.at_most(f"MB for {count:,} threads", [max(peaks)], bar)

    for count, bar in ((COUNT, 35), (MANY, 350)):
        row("thrum", count, thrum("spawn", count), bar)
        if twin:
            row("tokio", count, [twin, count])
        if go and count == COUNT:
            row("Go", count, [go, count])
        if ghc and count == COUNT:
            row("GHC", count, [ghc, count, "+RTS", "-N1"])
    return table
