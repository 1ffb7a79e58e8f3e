"""Small steps: what does it cost to spawn a task and join it, to wake one on another worker, to start a timer and drop it?

And the same timers when a million of them are pending, half are dropped and the others fire."""

from harness import TWO_CORES, programs_in_turns, thrum
from peers import tokio
from result import Result, ratios, spread

STEPS = 200_000
TIMERS = 1_000_000

NEEDS = ["taskset"]
# The programs say themselves how much they do.
ROUNDS, SECONDS = 3, 0
PROGRAMS = {
    "thrum": "examples/switch.rs",
    "tokio": "book/peers/tokio/src/bin/switch.rs",
    "thrum, timers": "examples/timers.rs",
    "tokio, timers": "book/peers/tokio/src/bin/timers.rs",
}
MEANING = """A wake across workers is mostly the kernel's: one core has to wake the other. A timer is a place in a list of the wheel, found
at once however many there are; with a million of them, started in no order, it is the memory that they touch. One that fires
is up to a millisecond late by its resolution, and later when many are due at once."""


def run(options):
    result = Result()
    table = result.table(["step", "thrum", "tokio", "thrum to tokio"])
    chart = {}

    def measured(program, argument):
        commands = {"thrum": ["taskset", "-c", TWO_CORES, *thrum(program, argument)]}
        if twin := tokio(program):
            commands["tokio"] = ["taskset", "-c", TWO_CORES, twin, argument]
        return programs_in_turns(commands, options)

    def row(what, results, figure, bar=None):
        values = {name: [figure(each) for each in runs] for name, runs in results.items()}
        theirs = values.get("tokio")
        ratio = ratios(values["thrum"], theirs) if theirs else None
        table.row(what, spread(values["thrum"], 1), spread(theirs, 1) if theirs else "-", spread(ratio) if ratio else "-")
        result.raw[what] = values
        if what.endswith(", ns"):
            chart[what.removesuffix(", ns")] = values
        if bar and ratio:
            result.at_most(f"{what}, thrum to tokio", ratio, bar)

    steps = measured("switch", STEPS)
    for words in ("spawn and join", "wake across workers", "timer insert and cancel"):
        row(f"{words}, ns", steps, lambda each: each.figure(words), 0.9)
    timers = measured("timers", TIMERS)
    row(f"start one of {TIMERS:,} timers, ns", timers, lambda each: each.figure("start"))
    row("drop one, ns", timers, lambda each: each.figure("drop"))
    row("start and drop one, ns", timers, lambda each: each.figure("start") + each.figure("drop"), 0.9)
    row("fires late, median, ms", timers, lambda each: each.figure("late p50"))
    row("fires late, 99th percentile, ms", timers, lambda each: each.figure("late p99"))
    row("fires late, the latest, ms", timers, lambda each: each.figure("late max"))
    row("memory of all of it, MB", timers, lambda each: each.figure("memory"))
    result.bar_chart("What small steps of the runtime cost", "nanoseconds each, logarithmic, less is better", chart, log=True)
    return result
