"""Text: how fast is what is done with it all day, by Rust's strings and memchr, and by GHC's text and bytestring?

One core, 4 MB of text: one as in English, all of it ASCII, and one in many scripts."""

import re
import tempfile
from pathlib import Path

import inputs
from harness import programs_in_turns, thrum
from peers import build_haskell
from result import Result, ratios, spread

SIZE = 4_000_000

NEEDS = ["taskset"]
# The programs say themselves how often they do each step.
ROUNDS, SECONDS = 3, 0
PROGRAMS = {"thrum": "examples/text.rs", "GHC": "book/peers/text.hs"}
MEANING = """MB/s of the text as UTF-8. Each figure is the fastest of nine runs over all of the text. GHC's text is UTF-16 up to version 1
and UTF-8 from version 2; to decode means for Rust to check and to copy. Lines and pieces are looked at one after the other by
both and are kept by neither. What has bytes in its name works on bytes, by bytestring and by slices."""


def run(options):
    result = Result()
    table = result.table(["text", "step", "thrum, MB/s", "GHC, MB/s", "thrum to GHC"])
    programs = {"thrum": thrum("text")}
    if ghc := build_haskell("text.hs", "text"):
        programs["GHC"] = [ghc]
    with tempfile.TemporaryDirectory() as folder:
        for number, (kind, text) in enumerate(inputs.texts(SIZE).items()):
            file = Path(folder) / f"{number}.txt"
            file.write_text(text, encoding="utf-8")
            commands = {name: ["taskset", "-c", "0", *program, file] for name, program in programs.items()}
            results = programs_in_turns(commands, options)
            result.raw[kind] = {name: [vars(each) for each in runs] for name, runs in results.items()}
            rates = {name: [steps(each.output, 1) for each in runs] for name, runs in results.items()}
            agree(kind, [steps(each.output, 2) for runs in results.values() for each in runs])
            chart = {}
            for step in rates["thrum"][0]:
                values = {name: [each[step] for each in rounds] for name, rounds in rates.items()}
                chart[step] = values
                theirs = values.get("GHC")
                ratio = spread(ratios(values["thrum"], theirs), 1) if theirs else "-"
                table.row(kind, step, spread(values["thrum"], 0), spread(theirs, 0) if theirs else "-", ratio)
            title = f"What is done with text all day, {kind} text: how fast"
            result.bar_chart(title, "MB of UTF-8 a second, logarithmic, more is better", chart, log=True)
    return result


def steps(output: str, group: int) -> dict[str, float]:
    """Of each step its MB/s, which is the first number, or its result, which is the second."""
    return {step: float(numbers[group - 1]) for step, *numbers in re.findall(r"(.+): (\d+) MB/s, result (\d+)", output)}


def agree(kind: str, results: list[dict]):
    """Whoever finds something else has not done the same."""
    for step, result in results[0].items():
        if any(each.get(step) != result for each in results):
            raise SystemExit(f"{step}, {kind} text: not the same: {[each.get(step) for each in results]}")
