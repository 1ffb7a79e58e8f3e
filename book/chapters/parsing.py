"""Parsing: how fast are HTTP heads and a JSON document parsed, by thrum's combinators and by others?

From memory, one core. 100 MB of requests: a browser's, which is 416 bytes, over and over; and 512 that differ in all lengths.
As much of a web server's response head, and a document of 4 MB."""

import json
import re
import subprocess
import tempfile
from pathlib import Path

import inputs
from harness import Run, fastest_in_turns, peak_memory, thrum
from peers import BOOK, build, build_haskell, skip
from result import Result, Table, ratios, spread

SIZE = 100_000_000
PIECE = 64 * 1024
DOCUMENT, TIMES = 4_000_000, 5
# What thrum's speed is to be, against the speed of each.
JSON_BARS = {"serde_json": 0.5, "aeson": 3, "attoparsec": 3}
BARS = {"httparse": 1.0, "llhttp": 1.4, "http_parser": 4, "attoparsec": 9}

PARSERS = BOOK / "peers" / "parsers"
LLHTTP = Path("/usr/share/llhttp")
HTTP_PARSER = Path("/usr/include/http_parser.h")
# These may use every instruction of this machine; thrum and httparse look for them when they start.
C_FLAGS = ["-O3", "-march=native"]

NEEDS = ["taskset"]
# The input's size says how long it takes.
ROUNDS, SECONDS = 3, 0
MEANING = """All of them find where the parts of a head are, and copy nothing. thrum's grammar is combinators that scan 16 or 32 bytes at
a time; picohttpparser and httparse are written by hand; llhttp's C is generated. picohttpparser and llhttp are compiled for this
very machine, http_parser is Debian's library, the rest is compiled for any machine of the kind. Each figure is the fastest of
five runs, three for JSON. In 64 KiB pieces the same buffer is used again and again, and what is left of a request is moved to its
front: that is timed, the kernel's copying from the file is shown apart. The lines are those that say what a request is, without
comments and empty lines; a parser written by hand is all of its code. JSON becomes values that are kept until all of it is read,
with numbers read and escapes undone, and what it costs to free them again is in the time. thrum's strings are slices of the
document where they have no escape; the others copy all of them. Parsec, which makes lists of characters and parses a twentieth
of the input, is where the article began."""


def run(options):
    result = Result()
    table = result.table(["input", "parser", "MB/s", "heads a second", "thrum to it", "lines of code"])
    with tempfile.TemporaryDirectory() as folder:
        files = write_requests(Path(folder))
        programs = request_programs()
        lines = request_lines(programs)
        parsec = build_haskell("requests_parsec.hs", "parsec")
        for kind, (file, found) in files.items():
            commands = {name: ["taskset", "-c", "0", program, file] for name, program in programs.items()}
            pieces = f"thrum, {PIECE // 1024} KiB pieces"
            commands[pieces] = [*commands["thrum"], PIECE]
            results = fastest_in_turns(commands, options)
            check(results, found)
            if parsec:
                results["Parsec"] = run_parsec(options, parsec, Path(folder) / "parsec.http", kind)
            rates = rows(result, table, f"{kind} requests", results, lines)
            reading = [with_reading(each) for each in results[pieces]]
            again = spread(ratios(rates["thrum"], reading))
            table.row(f"{kind} requests", f"{pieces}, with reading", spread(reading, 0), "", again, "")
            if kind == "browser's":
                hold(result, "thrum to", rates, BARS)
                result.at_least(f"in {PIECE // 1024} KiB pieces to whole", ratios(rates[pieces], rates["thrum"]), 0.85)
                result.at_most("memory in these pieces, MB", [peak_memory(commands[pieces])], 8)
        result.at_most("lines of thrum's grammar", [float(lines["thrum"])], 60)
        run_responses(options, Path(folder) / "responses.http", result, table)
        run_json(options, Path(folder) / "document.json", result, table)
    title = "Lines of code that say what a request's head is"
    result.bar_chart(title, "lines, logarithmic, less is better", {name: [count] for name, count in lines.items()}, log=True)
    return result


def run_parsec(options, program: Path, file: Path, kind: str) -> list[Run]:
    found = write_heads(file, inputs.requests(SIZE // 20)[kind], "requests")
    results = fastest_in_turns({"Parsec": ["taskset", "-c", "0", program, file]}, options, runs=1)
    check(results, found)
    return results["Parsec"]


def run_responses(options, file: Path, result: Result, table: Table):
    found = write_heads(file, inputs.responses(SIZE), "responses")
    commands = {"thrum": ["taskset", "-c", "0", *thrum("parse_requests", "--responses", file)]}
    if httparse := build("parsers/src/bin/responses_httparse.rs"):
        commands["httparse"] = ["taskset", "-c", "0", httparse, file]
    results = fastest_in_turns(commands, options)
    check(results, found)
    hold(result, "responses, thrum to", rows(result, table, "responses", results, {}), {"httparse": BARS["httparse"]})


def run_json(options, file: Path, result: Result, table: Table):
    file.write_bytes(inputs.document(DOCUMENT))
    programs = {
        "thrum": thrum("parse_json")[0],
        "serde_json": build("parsers/src/bin/json_serde.rs"),
        "aeson": build_haskell("json_aeson.hs", "aeson"),
        "attoparsec": build_haskell("json_attoparsec.hs", "attoparsec"),
    }
    commands = {name: ["taskset", "-c", "0", program, file, TIMES] for name, program in programs.items() if program}
    results = fastest_in_turns(commands, options, runs=3)
    check(results, results["thrum"][0].output.split(" parsed ")[0])
    grammar = (BOOK.parent / "crates/thrum-parse/src/json/grammar.rs").read_text()
    lines = {
        "thrum": code_lines(grammar.split("#[cfg(test)]")[0]),
        "attoparsec": code_lines(between_marks(BOOK / "peers" / "json_attoparsec.hs")),
    }
    hold(result, "JSON, thrum to", rows(result, table, "JSON", results, lines), JSON_BARS)


def rows(result: Result, table: Table, what: str, results: dict, lines: dict[str, int]) -> dict[str, list[float]]:
    """A row for each parser, and a chart; its MB/s, round by round."""
    result.raw[what] = {name: [vars(each) for each in runs] for name, runs in results.items()}
    rates = {name: [each.rate() for each in runs] for name, runs in results.items()}
    for name, values in rates.items():
        count = f"{lines[name]:,}" if name in lines else ""
        heads = heads_per_mb(results[name][0])
        shown = spread([heads * rate for rate in values], 0) if heads else ""
        table.row(what, name, spread(values, 0), shown, spread(ratios(rates["thrum"], values)), count)
    result.bar_chart(f"Parsing on one core: {what}", "MB a second, logarithmic, more is better", rates, log=True)
    return rates


def heads_per_mb(run: Run) -> float | None:
    said = re.match(r"(\d+) (?:requests|responses), \d+ header fields, (\d+) bytes", run.output)
    return int(said[1]) / int(said[2]) * 1e6 if said else None


def hold(result: Result, what: str, rates: dict[str, list[float]], bars: dict[str, float]):
    for name in (name for name in bars if name in rates):
        result.at_least(f"{what} {name}", ratios(rates["thrum"], rates[name]), bars[name])


def write_requests(folder: Path) -> dict[str, tuple[Path, str]]:
    """Each kind of requests, and what every parser is to say that it found."""
    files = {}
    for number, (kind, content) in enumerate(inputs.requests(SIZE).items()):
        file = folder / f"{number}.http"
        files[kind] = file, write_heads(file, content, "requests")
    return files


def write_heads(file: Path, content: bytes, what: str) -> str:
    file.write_bytes(content)
    count = content.count(b"\r\n\r\n")
    fields = content.count(b"\r\n") - 2 * count
    return f"{count} {what}, {fields} header fields, {len(content)} bytes, "


def check(results: dict, found: str):
    for name, runs in results.items():
        for each in runs:
            if not each.output.startswith(found):
                raise SystemExit(f"{name} is to find {found} but says: {each.output}")


def with_reading(run) -> float:
    return float(re.search(r"read and parsed in \S+ s: (\d+) MB/s", run.output)[1])


def request_programs() -> dict[str, Path]:
    programs = {
        "thrum": thrum("parse_requests")[0],
        "httparse": build("parsers/src/bin/requests_httparse.rs"),
        "winnow": build("parsers/src/bin/requests_winnow.rs"),
        "attoparsec": build_haskell("requests_attoparsec.hs", "attoparsec"),
    }
    programs["picohttpparser"] = build_picohttpparser(*C_FLAGS)
    if LLHTTP.exists():
        sources = [LLHTTP / name for name in ("llhttp.c", "api.c", "http.c")]
        programs["llhttp"] = build("requests_llhttp.c", *C_FLAGS, "-I", "/usr/share/include/llhttp", *sources)
    else:
        skip("llhttp", "its source is not installed; Debian: node-llhttp")
    if HTTP_PARSER.exists():
        programs["http_parser"] = build("requests_http_parser.c", "-lhttp_parser")
    else:
        skip("http_parser", "not installed; Debian: libhttp-parser-dev")
    return {name: program for name, program in programs.items() if program}


def build_picohttpparser(*flags) -> Path | None:
    source = crate_source("picohttpparser-sys")
    if source is None:
        skip("picohttpparser", "the crate picohttpparser-sys, which has its source, cannot be fetched")
        return None
    folder = source / "deps" / "picohttpparser"
    # Its constants are shorter than what is loaded of them, which gcc would warn of.
    return build("requests_pico.c", *flags, "-w", "-I", folder, folder / "picohttpparser.c")


def crate_source(name: str) -> Path | None:
    """Where cargo has put the source of a crate that the parsers' package names."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--all-features"]
    output = subprocess.run(command, cwd=PARSERS, capture_output=True, text=True)
    if output.returncode != 0:
        return None
    packages = json.loads(output.stdout)["packages"]
    return next(Path(each["manifest_path"]).parent for each in packages if each["name"] == name)


def request_lines(programs: dict[str, Path]) -> dict[str, int]:
    """How many lines of code say what a request is, where their source is at hand."""
    lines = {
        "thrum": code_lines(thrum_grammar()),
        "winnow": code_lines(between_marks(PARSERS / "src/bin/requests_winnow.rs")),
        "attoparsec": code_lines(between_marks(BOOK / "peers" / "requests_attoparsec.hs")),
        "Parsec": code_lines(between_marks(BOOK / "peers" / "requests_parsec.hs")),
    }
    if "httparse" in programs and (source := crate_source("httparse")):
        files = [source / "src" / "lib.rs", source / "src" / "iter.rs", *(source / "src" / "simd").glob("*.rs")]
        lines["httparse"] = sum(code_lines(file.read_text().split("#[cfg(test)]")[0]) for file in files)
    if "picohttpparser" in programs and (source := crate_source("picohttpparser-sys")):
        text = (source / "deps/picohttpparser/picohttpparser.c").read_text()
        lines["picohttpparser"] = code_lines(text.split("enum {\n    CHUNKED")[0])
    grammar = Path("/usr/share/nodejs/llhttp/src/llhttp/http.ts")
    if "llhttp" in programs and grammar.exists():
        lines["llhttp"] = code_lines(grammar.read_text())
    return lines


def thrum_grammar() -> str:
    """What a request head is made of."""
    names = "TEXT TCHAR TARGET VALUE message_head request_line http_version field_lines field_line".split()
    folder = BOOK.parent / "crates/thrum-parse/src/http"
    text = "".join((folder / file).read_text() for file in ("terminals.rs", "head.rs", "grammar.rs"))
    item = r"^(?:#\[.*\]\n)?(?:pub\S* )?(?:const|static|fn) {}\b(?:[^;{{]*;$|(?s:.*?)^}}$)"
    found = [re.search(item.format(name), text, re.MULTILINE) for name in names]
    return "\n".join(each[0] for each in found)


def between_marks(file: Path) -> str:
    return re.search(r"(?://|--) grammar\n(.*?)(?://|--) end\n", file.read_text(), re.DOTALL)[1]


def code_lines(text: str) -> int:
    """Lines that are neither empty nor nothing but a comment."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return sum(1 for line in text.splitlines() if line.strip() and not re.match(r"\s*(//|--)", line))


# At the end of the file, since the grammar is taken out of several.
PROGRAMS = {
    "thrum, the grammar": thrum_grammar,
    "attoparsec": "book/peers/requests_attoparsec.hs",
    "Parsec": "book/peers/requests_parsec.hs",
    "winnow": "book/peers/parsers/src/bin/requests_winnow.rs",
    "httparse": "book/peers/parsers/src/bin/requests_httparse.rs",
    "picohttpparser": "book/peers/requests_pico.c",
    "llhttp": "book/peers/requests_llhttp.c",
    "http_parser": "book/peers/requests_http_parser.c",
    "thrum, JSON": "crates/thrum-parse/src/json/grammar.rs",
    "attoparsec, JSON": "book/peers/json_attoparsec.hs",
    "aeson, JSON": "book/peers/json_aeson.hs",
    "serde_json, JSON": "book/peers/parsers/src/bin/json_serde.rs",
}
