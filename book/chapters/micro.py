"""Small steps: to spawn a task and join it, to wake one on another worker, to start a timer and drop it.

And the same timers when a million of them are pending, half are dropped and the others fire."""

from harness import Result, programs_in_turns, ratios, spread, thrum, tokio

STEPS = 200_000
TIMERS = 1_000_000

NEEDS = ["taskset"]
MEANING = """A wake across workers is mostly the kernel's: one core has to wake the other. A timer is a place in a list of the wheel, found
at once however many there are; with a million of them, started in no order, it is the memory that they touch. One that fires
is up to a millisecond late by its resolution, and later when many are due at once."""


def run(options):
    table = Result(["step", "thrum", "tokio", "thrum to tokio"])

    def measured(program, argument):
        commands = {"thrum": ["taskset", "-c", "0,1", *thrum(program, argument)]}
        if twin := tokio(program):
            commands["tokio"] = ["taskset", "-c", "0,1", twin, argument]
        return programs_in_turns(commands, options)

    def row(what, results, figure, bar=None):
        values = {name: [figure(each) for each in runs] for name, runs in results.items()}
        theirs = values.get("tokio")
        ratio = ratios(values["thrum"], theirs) if theirs else None
        table.row(what, spread(values["thrum"], 1), spread(theirs, 1) if theirs else "-", spread(ratio) if ratio else "-")
        table.raw[what] = values
        if bar and ratio:
            table.at_most(f"{what}, thrum to tokio", ratio, bar)

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
    return table
