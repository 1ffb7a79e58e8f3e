"""Cores: two tasks that compute, one after the other and then at once, on two cores."""

from harness import Result, programs_in_turns, spread, thrum, tokio

N = 42

NEEDS = ["taskset"]
MEANING = """A half is all that two cores can give. The task that is spawned second does not wait behind the first: a parked worker takes it
from its queue."""


def run(options):
    table = Result(["program", "one after the other, s", "at once, s", "ratio"])
    programs = {"thrum": ["taskset", "-c", "0,1", *thrum("cpu", N)]}
    if twin := tokio("cpu"):
        programs["tokio"] = ["taskset", "-c", "0,1", twin, N]
    for name, runs in programs_in_turns(programs, options).items():
        figures = {words: [each.figure(words) for each in runs] for words in ("one after the other", "at once", "ratio")}
        table.row(name, *map(spread, figures.values()))
        table.raw[name] = figures
    table.at_most("at once to one after the other", table.raw["thrum"]["ratio"], 0.55)
    return table
