"""Log files: how fast does logtop find the paths with the most hits, and how fast what is at hand in a shell?

Two cores, a log of --gigabytes in the page cache: lines of about 200 bytes, 8,000 paths of which some come often."""

import contextlib
import re
import resource
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import inputs
from harness import TWO_CORES, thrum
from result import Result, ratios, spread

TOP = 10

NEEDS = ["taskset"]
# The log's size says how long it takes.
ROUNDS, SECONDS = 3, 0
PROGRAMS = {
    "thrum": "examples/logtop/main.rs",
    "thrum, how it counts": "examples/logtop/top.rs",
    "awk": lambda: f"awk {AWK}{TOP}",
    "cut, sort, uniq": lambda: f"{CUT}{TOP}",
}
MEANING = """All of them count the hits of each path without its query, and agree on the first ten. logtop reads all fields of each line
and says which lines are none; awk cuts at white space and also sums up the bytes; cut and sort know columns only. CPU is that of
all processes together, memory the sum of what each of them had at most. logtop's memory does not grow with the paths, the
others' does: sort keeps all of them, or writes them to the disk."""

AWK = """'{ path = $7; sub(/[?].*/, "", path); hits[path]++; bytes[path] += $10 }
    END { for (path in hits) printf "%d %d %s\\n", hits[path], bytes[path], path }' "$LOG" | sort -rn | head -n """
CUT = """cut -d'"' -f2 "$LOG" | cut -d' ' -f2 | cut -d'?' -f1 | sort | uniq -c | sort -rn | head -n """


def run(options):
    result = Result()
    table = result.table(["program", "MB/s of CPU", "MB/s", "thrum to it, CPU", "memory, MB"])
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "access.log"
        megabytes = write(log, options.gigabytes)
        programs = {"thrum": [*thrum("logtop"), "--top", TOP, log]}
        for awk in ("mawk", "gawk", "goawk"):
            if shutil.which(awk):
                programs[f"{awk}, sort"] = shell(f"{awk} {AWK}{TOP}", log)
        programs["cut, sort, uniq"] = shell(f"{CUT}{TOP}", log)
        results = {name: [] for name in programs}
        for _ in range(options.rounds):
            for name, command in programs.items():
                results[name].append(Measured(command))
    if len({each.top for runs in results.values() for each in runs}) != 1:
        raise SystemExit(f"not the same: {[(name, runs[0].top) for name, runs in results.items()]}")
    cpu = {name: [megabytes / each.cpu_s for each in runs] for name, runs in results.items()}
    for name, runs in results.items():
        wall = [megabytes / each.wall_s for each in runs]
        memory = spread([each.peak_mb for each in runs], 1)
        table.row(name, spread(cpu[name], 0), spread(wall, 0), spread(ratios(cpu["thrum"], cpu[name])), memory)
        result.raw[name] = [vars(each) for each in runs]
    result.at_least("thrum, MB/s of CPU", cpu["thrum"], 1000)
    result.at_most("thrum, memory in MB", [each.peak_mb for each in results["thrum"]], 20)
    title = f"Log files, {options.gigabytes:g} GB: how much of the log a second of CPU goes through"
    result.bar_chart(title, "MB a second of CPU, more is better", cpu)
    return result


def write(log: Path, gigabytes: float) -> float:
    """Writes a log and says how many MB it has."""
    size = int(gigabytes * 1e9)
    # sort may write as much again.
    if shutil.disk_usage(log.parent).free < 2 * size:
        raise SystemExit(f"there is no room for twice {gigabytes} GB in {log.parent}")
    with log.open("wb") as file:
        file.writelines(inputs.access_log(size))
    return log.stat().st_size / 1e6


def shell(pipeline: str, log: Path) -> list:
    return ["env", "LC_ALL=C", f"LOG={log}", "TMPDIR=" + str(log.parent), "sh", "-c", pipeline]


class Measured:
    """One run of a program or pipeline, with what it cost."""

    def __init__(self, command: list):
        used = lambda: sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
        cpu, begin = used(), time.monotonic()
        process = subprocess.Popen(["taskset", "-c", TWO_CORES, *map(str, command)], stdout=subprocess.PIPE, text=True)
        peaks = {}
        while process.poll() is None:
            look(process.pid, peaks)
            time.sleep(0.01)
        self.wall_s, self.cpu_s = time.monotonic() - begin, used() - cpu
        self.peak_mb = sum(peaks.values()) * 1024 / 1e6
        self.top = top(process.stdout.read())
        if process.returncode != 0:
            raise SystemExit(f"failed: {command}")


def look(pid: int, peaks: dict[int, int]):
    """Notes the most memory that a process and those below it have had so far."""
    with contextlib.suppress(OSError):
        if said := re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text()):
            peaks[pid] = int(said[1])
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            look(int(child), peaks)


def top(output: str) -> str:
    """The hits and paths that it found, whatever stands between them."""
    found = re.findall(r"^ *([\d,]+) (?:.* )?(/\S*)$", output, re.MULTILINE)
    return " ".join(f"{hits.replace(',', '')} {path}" for hits, path in found)
