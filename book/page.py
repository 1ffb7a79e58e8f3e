"""The book as one page that needs nothing else: a section a chapter, drawn from the JSON files of what was measured."""

import ast
import json
import re
from html import escape
from pathlib import Path

import svg
from peers import BOOK, OUT
from result import Figures, holds

ROOT = BOOK.parent


def write(chapters: dict) -> str:
    """Draws all chapters, modules by their names, that have been measured, and says where the page is."""
    measured = {name: found for name in chapters if (found := read(OUT / f"{name}.json"))}
    sections = [
        section(number, name, module, measured[name]) if name in measured else unmeasured(number, name, module)
        for number, (name, module) in enumerate(chapters.items(), 1)
    ]
    style = (BOOK / "page.css").read_text()
    OUT.mkdir(exist_ok=True)
    page = OUT / "index.html"
    page.write_text(
        f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>The book of thrum</title>
<style>
{style}</style>
</head>
<body>
<main>
{cover(chapters, measured)}
{"".join(sections)}</main>
</body>
</html>
"""
    )
    return str(page)


def read(file: Path) -> dict | None:
    """What was measured, unless it was not, or by a version that wrote other files."""
    found = json.loads(file.read_text()) if file.exists() else {}
    return found if "charts" in found else None


def cover(chapters: dict, measured: dict) -> str:
    machines = sorted({found["machine"] for found in measured.values()})
    rows = []
    for number, (name, module) in enumerate(chapters.items(), 1):
        bars = [bar_of(bar) for bar in measured.get(name, {}).get("bars", [])]
        missed = sum(not holds(bar) for bar in bars)
        verdict = "not measured" if name not in measured else f"{len(bars) - missed} of {len(bars)}" if bars else "-"
        kind = ' class="missed"' if missed else ""
        title, question = words(module)
        rows.append(
            f'<tr><td class="number">{number}</td><td><a href="#{name}">{rich(title)}</a>'
            f'<small>{rich(question.partition("?")[0])}?</small></td><td{kind}>{verdict}</td></tr>\n'
        )
    minutes = sum(found["took_s"] for found in measured.values()) / 60
    machine = f"<p>{escape('; '.join(machines))}; {minutes:.0f} minutes in all.</p>" if machines else ""
    return f"""<header>
<h1>The book of thrum</h1>
<p>How thrum does beside other systems, measured on one machine in the same run, in turns: A B C A B C ... Where a figure stands
with two in brackets, it is the median of the rounds, with the least and the most. A bar is what thrum is held to; those that it
missed are shown like those that it held.</p>
{machine}
<table class="contents"><thead><tr><th></th><th>chapter</th><th>bars held</th></tr></thead><tbody>
{"".join(rows)}</tbody></table>
</header>
"""


def section(number: int, name: str, module, found: dict) -> str:
    tables = "".join(map(table, found["tables"]))
    charts = "".join(f"<figure>{svg.draw(chart)}</figure>" for chart in found["charts"])
    bars = "".join(map(bar_row, map(bar_of, found["bars"])))
    held = f'<h3>Bars</h3>\n<table class="bars"><tbody>{bars}</tbody></table>' if bars else ""
    skipped = f"<p>Skipped: {escape('; '.join(found['skipped']))}.</p>" if found["skipped"] else ""
    return f"""{opening(number, name, module)}
{programs(module)}
<h3>Figures</h3>
{tables}
<div class="charts">{charts}</div>
<h3>What it means</h3>
{paragraphs(module.MEANING)}
{skipped}
{held}
<footer>{escape(found["machine"])}; {escape(found["date"])}; {rounds(found)}, {found["took_s"] / 60:.1f} minutes in all. To measure it again: <code>book/run {name}</code></footer>
</section>
"""


def rounds(found: dict) -> str:
    each = f" of {found['seconds']} s" if found["seconds"] else ""
    return f"{found['rounds']} round{'s' * (found['rounds'] > 1)}{each}"


def unmeasured(number: int, name: str, module) -> str:
    return f"""{opening(number, name, module)}
{programs(module)}
<p>Not measured yet: <code>book/run {name}</code></p>
</section>
"""


def opening(number: int, name: str, module) -> str:
    title, question = words(module)
    return f'<section id="{name}">\n<h2><span class="number">{number}</span> {rich(title)}</h2>\n{paragraphs(question)}'


def words(module) -> tuple[str, str]:
    """A chapter's title and its question, which a colon divides."""
    title, question = module.__doc__.strip().split(": ", 1)
    return title, question[0].upper() + question[1:]


def programs(module) -> str:
    """The programs side by side, from the files themselves."""
    cards = []
    for name, where in module.PROGRAMS.items():
        place, content = source(where)
        cards.append(f"<figure><figcaption><b>{escape(name)}</b> {escape(place)}</figcaption><pre>{escape(content)}</pre></figure>")
    return f'<h3>The programs</h3>\n<div class="programs" tabindex="0">{"".join(cards)}</div>' if cards else ""


def source(where) -> tuple[str, str]:
    """Where it stands and what it says: a file, `FILE.py#FUNCTION`, a command after `$`, or what a function gives."""
    if callable(where):
        return "", where()
    if where.startswith("$"):
        return "", where
    path, _, name = where.partition("#")
    content = (ROOT / path).read_text()
    if name:
        function = next(node for node in ast.parse(content).body if getattr(node, "name", None) == name)
        content = ast.get_source_segment(content, function)
    return path, content


def table(found: dict) -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in found["columns"])
    rows = []
    for row in found["rows"]:
        rows.append(f"<tr>{''.join(map(cell, row))}</tr>\n")
    caption = f"<caption>{rich(found['title'])}</caption>" if found["title"] else ""
    return f'<div class="wide"><table>{caption}<thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>\n'


def cell(found) -> str:
    if isinstance(found, str):
        style = ' class="thrum"' if found.startswith("thrum") else ""
        return f"<td{style}>{escape(found)}</td>"
    said = str(Figures([float("inf") if value is None else value for value in found["values"]], found["digits"]))
    middle, _, rest = said.partition(" ")
    return f'<td class="figure">{middle} <small>{rest}</small></td>'


def bar_of(found: list) -> tuple:
    what, measured, relation, limit = found
    return what, [float("inf") if value is None else value for value in measured], relation, limit


def bar_row(bar: tuple) -> str:
    what, measured, relation, limit = bar
    verdict = '<td class="held">held</td>' if holds(bar) else '<td class="missed">missed</td>'
    return f"<tr>{verdict}<td>{escape(what)}</td><td>{Figures(measured, 2)}</td><td>{relation} {limit:,g}</td></tr>"


def paragraphs(content: str) -> str:
    return "\n".join(f"<p>{rich(paragraph)}</p>" for paragraph in content.strip().split("\n\n"))


def rich(content: str) -> str:
    """Text in which backticks are code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(content))
