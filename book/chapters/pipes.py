"""Pipes: a million one-byte messages through 100, 1,000 and 8,000 pipes, a reader task and a writer task each.

Two cores. Does a message cost more when there is more to wait for?"""

import resource

from harness import Result, build, programs_in_turns, ratios, spread, thrum, tokio

MESSAGES = 1_000_000
PIPES = [100, 1_000, 8_000]
MANY = 83_898

NEEDS = ["taskset"]
MEANING = """A message is a write and a read, and a wake of the reader if it waits. The reactor hands out what is ready and never looks
at the rest, so that what does not move costs nothing. Making the pipes is not in the seconds, but in the CPU time."""


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


def command(program: list, pipes: int) -> list:
    """As many messages through each pipe: a million, or what it takes for them to be equal."""
    return ["taskset", "-c", "0,1", *program, pipes, -(-MESSAGES // pipes) * pipes]


def run(options):
    table = Result(["program", "pipes", "seconds", "CPU, s"])
    programs = {"thrum": thrum("pipes")}
    if twin := tokio("pipes"):
        programs["tokio"] = [twin]
    if go := build("pipes.go"):
        programs["Go"] = [go]
    if ghc := build("pipes.hs"):
        programs["GHC"] = [ghc]
    flags = {"GHC": ["+RTS", "-N2"]}

    def row(name, pipes, runs):
        seconds = [each.figure() for each in runs]
        table.row(name, f"{pipes:,}", spread(seconds, 3), spread([each.cpu_s for each in runs]))
        table.raw[f"{name} {pipes}"] = [vars(each) for each in runs]
        return seconds

    for pipes in PIPES:
        if not may_open(2 * pipes + 100):
            print(f"skipped: {pipes:,} pipes (they need {2 * pipes:,} open files: ulimit -n)")
            continue
        commands = {name: command(program, pipes) + flags.get(name, []) for name, program in programs.items()}
        results = programs_in_turns(commands, options)
        seconds = {name: row(name, pipes, runs) for name, runs in results.items()}
        if "tokio" in seconds:
            table.at_most(f"{pipes:,} pipes, thrum to tokio", ratios(seconds["thrum"], seconds["tokio"]), 0.9)
    if may_open(2 * MANY + 100):
        commands = {pipes: command(programs["thrum"], pipes) for pipes in (100, MANY)}
        results = programs_in_turns(commands, options)
        many = row("thrum", MANY, results[MANY])
        few = [each.figure() for each in results[100]]
        table.at_most(f"{MANY:,} pipes to 100", ratios(many, few), 1.4)
    else:
        print(f"skipped: {MANY:,} pipes (they need {2 * MANY:,} open files: ulimit -n)")
    return table
