"""A hundred thousand threads, each waiting for a start and then a stop variable.

Peak resident memory of the whole process."""

import subprocess

from harness import Result, build, spread, thrum

COUNT = 100_000

NEEDS = []
MEANING = """A task is as large as what it keeps across an await, a stack as large as its smallest size."""


def peak_mb(command) -> float:
    """Peak memory of one run, by GNU time's own means: the children's high-water mark of a fresh process."""
    probe = "import resource,subprocess,sys;subprocess.run(sys.argv[1:],stdout=subprocess.DEVNULL,check=True);print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    output = subprocess.run(["python3", "-c", probe, *map(str, command)], capture_output=True, text=True, check=True)
    return int(output.stdout) / 1024


def run(options):
    table = Result(["program", "peak, MB"])
    programs = {"thrum": thrum("spawn", COUNT)}
    if go := build("spawn.go"):
        programs["Go"] = [go, COUNT]
    if ghc := build("spawn.hs"):
        programs["GHC"] = [ghc, COUNT, "+RTS", "-N1"]
    for name, command in programs.items():
        peaks = [peak_mb(command) for _ in range(min(3, options.rounds))]
        table.row(name, spread(peaks, 1))
        table.raw[name] = peaks
        if name == "thrum":
            table.at_most(f"MB for {COUNT:,} threads", [max(peaks)], 45)
    return table
