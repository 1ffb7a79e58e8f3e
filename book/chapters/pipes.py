"""The I/O manager: what do a million one-byte messages take through 100 pipes, or 83,898, a reader task and a writer task each?

With and without a timeout for each read, on two cores, and by each way that thrum has to ask the kernel. The article's pipes
grow by 12/10 each time; these are seven of its 38 sizes."""

import resource
import subprocess

from harness import TWO_CORES, programs_in_turns, thrum
from peers import BOOK, OUT, build, skip, tokio
from result import Result, ratios, spread

MESSAGES = 1_000_000
PIPES = [100, 296, 1_058, 3_154, 7_844, 23_416, 83_898]
SECONDS_TO_READ = 60
BACK_ENDS = ["io_uring", "portable"]

NEEDS = ["taskset"]
# Each run lasts as long as its messages do.
ROUNDS, SECONDS = 3, 0
PROGRAMS = {
    "thrum": "examples/pipes.rs",
    "GHC": "book/peers/pipes.hs",
    "Go": "book/peers/pipes.go",
    "tokio": "book/peers/tokio/src/bin/pipes.rs",
}
MEANING = """A message is a write and a read, and a wake of the reader if it waits. The reactor hands out what is ready and never looks
at the rest, so that what does not move costs nothing. A timeout is a timer that is started and dropped for each message, none of
which is ever due. Making the pipes is not in the seconds, but in the CPU time.

thrum asks the kernel by epoll; io_uring and the portable back end, the crate polling, are there to be chosen. A size that takes
more open files than a process may have here is skipped."""


def may_open(descriptors: int) -> bool:
    """Raises the limit on open files, for the programs too, if that is allowed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft >= descriptors:
        return True
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, max(descriptors, hard)))
    except (ValueError, OSError):
        return False
    return True


def with_all_back_ends() -> list:
    """The program, built with those that are not there by default."""
    target = OUT / "reactors"
    command = ["cargo", "build", "--release", "--quiet", "-p", "thrum-examples", "--bin", "pipes", "--target-dir", target]
    subprocess.run([*command, "--features", "thrum/io-uring,thrum/portable"], cwd=BOOK.parent, check=True)
    return [target / "release" / "pipes"]


def programs() -> dict[str, list]:
    found = {"thrum": thrum("pipes")}
    if twin := tokio("pipes"):
        found["tokio"] = [twin]
    if go := build("pipes.go"):
        found["Go"] = [go]
    if ghc := build("pipes.hs"):
        # What follows stands before the numbers.
        found["GHC"] = [ghc, "+RTS", "-N2", "-RTS"]
    all_of_them = with_all_back_ends()
    for back_end in BACK_ENDS:
        program = ["env", f"THRUM_IO={back_end}", *all_of_them]
        # What cannot be used is replaced by epoll.
        if f"asked by {back_end}" in subprocess.run([*program, "1", "1"], capture_output=True, text=True).stdout:
            found[f"thrum {back_end}"] = program
        else:
            skip(f"thrum {back_end}", "this system does not allow it")
    return found


def messages(pipes: int) -> int:
    """A million, or what it takes for them to be as many through each pipe."""
    return -(-MESSAGES // pipes) * pipes


def command(program: list, pipes: int, limit: int) -> list:
    return ["taskset", "-c", TWO_CORES, *program, pipes, messages(pipes), *([limit] if limit else [])]


def run(options):
    result = Result()
    table = result.table(["program", "timeouts", "pipes", "seconds", "CPU, s"])
    found = programs()
    lines = {(name, limit): [] for limit in (0, SECONDS_TO_READ) for name in found}
    for pipes in PIPES:
        if not may_open(2 * pipes + 100):
            skip(f"{pipes:,} pipes", f"they need {2 * pipes:,} open files: ulimit -n")
            continue
        for limit in (0, SECONDS_TO_READ):
            results = programs_in_turns({name: command(program, pipes, limit) for name, program in found.items()}, options)
            for name, runs in results.items():
                seconds = [each.figure() for each in runs]
                table.row(name, "yes" if limit else "no", f"{pipes:,}", spread(seconds, 3), spread([each.cpu_s for each in runs]))
                lines[name, limit].append((pipes, seconds))
                result.raw[f"{name}, {pipes} pipes{', timeouts' * bool(limit)}"] = [vars(each) for each in runs]
    draw(result, lines)
    hold(result, lines)
    return result


def draw(result: Result, lines: dict):
    axes = ("pipes", "messages a second, more is better")
    for limit, words in ((0, "without timeouts"), (SECONDS_TO_READ, "each read with a timeout")):
        shown = {name: rates(lines[name, limit]) for name in ("thrum", "tokio", "Go", "GHC") if (name, limit) in lines}
        result.line_chart(f"A million messages through pipes, {words}, log-log", *axes, shown)
    back_ends = {}
    for limit, words in ((0, ""), (SECONDS_TO_READ, ", timeouts")):
        for name in ("thrum", *(f"thrum {back_end}" for back_end in BACK_ENDS)):
            if (name, limit) in lines:
                back_end = "thrum epoll" if name == "thrum" else name
                back_ends[back_end + words] = rates(lines[name, limit])
    result.line_chart("A million messages through pipes, by thrum's back ends, log-log", *axes, back_ends)


def rates(line: list) -> list:
    return [(pipes, [messages(pipes) / each for each in seconds]) for pipes, seconds in line]


def hold(result: Result, lines: dict):
    mine = dict(lines["thrum", 0])
    for pipes, theirs in lines.get(("tokio", 0), []):
        result.at_most(f"{pipes:,} pipes, thrum to tokio", ratios(mine[pipes], theirs), 0.9)
    if PIPES[-1] in mine:
        result.at_most(f"{PIPES[-1]:,} pipes to 100", ratios(mine[PIPES[-1]], mine[100]), 1.4)
