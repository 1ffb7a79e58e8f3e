"""Charts as SVG, from what a chapter's JSON file says of them: bars with their spread, and lines.

They are narrow, so that their text can be read on a phone; colours and fonts are those of the page that they are in. Whatever
begins with "thrum" has a colour of its own."""

import math
import statistics
import textwrap
from html import escape

WIDTH = 420
# About as wide as a letter is on average, at 11 units high.
LETTER = 5.8
LINE = 14
# Colours of lines other than thrum's, and how thrum's own lines are told apart, or those of one colour in black and white.
PEERS = 7
DASHES = ["", "6 3", "2 2", "9 3 2 3", "1 4"]


def draw(chart: dict) -> str:
    drawn = {"bars": bars, "lines": lines}[chart["kind"]]
    return drawn(chart)


def bars(chart: dict) -> str:
    """A bar for each name, as long as the median of its rounds, with a whisker from the least to the most. On a logarithmic axis,
    which has no zero for a bar to begin at, medians are dots, those of a group on one line."""
    log = chart["log"]
    known = [value for values in every_bar(chart) for value in values if value]
    axis = Axis(known, 0, WIDTH - 10, log, zero=not log)
    parts, y = heading(chart["title"])
    top = y
    for group, members in chart["groups"].items():
        if group and log:
            parts += dots(axis, y, group, members)
            y += 28
            continue
        if group:
            parts.append(text(0, y + 17, group, "group"))
            y += 24
        for name, values in members.items():
            mine = "thrum" in (kind(group), kind(name))
            parts += bar(axis, y, name, values, log, "thrum" if mine else "peer")
            y += 32
    ticks = [line(axis.at(tick), top, axis.at(tick), y, "grid") for tick in axis.ticks()]
    for tick in axis.ticks():
        x = axis.at(tick)
        parts.append(text(x, y + 12, short(tick), "tick", "start" if x < 10 else "end" if x > WIDTH - 40 else "middle"))
    parts.append(text(0, y + 28, chart["axis"], "axis"))
    return svg(chart["title"], y + 34, [*ticks, *parts])


def every_bar(chart: dict) -> list[list]:
    return [values for members in chart["groups"].values() for values in members.values()]


def kind(name: str) -> str:
    return "thrum" if name.startswith("thrum") else "peer"


def bar(axis: "Axis", y: float, name: str, values: list, log: bool, style: str) -> list[str]:
    parts = [text(0, y + 11, name, f"name {style}")]
    if not drawable(values, log):
        return [*parts, text(WIDTH - 10, y + 11, "none", "value", "end")]
    low, middle, high = min(values), statistics.median(values), max(values)
    said = number(middle) if low == high else f"{number(middle)}  ({number(low)} .. {number(high)})"
    parts.append(text(WIDTH - 10, y + 11, said, "value", "end"))
    if log:
        parts.append(dot(axis.at(middle), y + 20, style))
    else:
        parts.append(f'<rect class="{style}" x="0" y="{y + 15}" width="{max(axis.at(middle), 0.5):.1f}" height="10"/>')
    return parts + whisker(axis, y + 20, low, high)


def dots(axis: "Axis", y: float, group: str, members: dict) -> list[str]:
    """The members of a group on one line, told apart by colour."""
    parts = [text(0, y + 11, group, "name"), line(0, y + 20, WIDTH - 10, y + 20, "grid")]
    for place, (name, values) in enumerate(reversed(members.items())):
        said = "none"
        if drawable(values, log=True):
            said = number(statistics.median(values))
            parts += whisker(axis, y + 20, min(values), max(values))
            parts.append(dot(axis.at(statistics.median(values)), y + 20, kind(name)))
        parts.append(text(WIDTH - 10 - 90 * place, y + 11, f"{name} {said}", f"value {kind(name)}", "end"))
    return parts


def drawable(values: list, log: bool) -> bool:
    return all(value is not None and (value > 0 or not log) for value in values)


def dot(x: float, y: float, style: str) -> str:
    return f'<circle class="{style}" cx="{x:.1f}" cy="{y:.1f}" r="4.5"/>'


def whisker(axis: "Axis", y: float, low: float, high: float) -> list[str]:
    if low == high:
        return []
    left, right = axis.at(low), axis.at(high)
    return [line(left, y, right, y, "whisker"), *(line(x, y - 3, x, y + 3, "whisker") for x in (left, right))]


def lines(chart: dict) -> str:
    """A line for each name through the medians of its points, each with a whisker from the least to the most."""
    starved = lambda points: any(value is None for _, values in points for value in values)
    drawn = {name + " (then none)" * starved(points): points for name, points in chart["lines"].items() if points}
    points = [point for each in drawn.values() for point in each]
    shown = [value for _, values in points for value in values if value is not None]
    parts, top = heading(chart["title"])
    parts.append(text(0, top + 9, chart["y"], "axis"))
    top += LINE + 4
    bottom = top + 230
    # Names stand at the ends of their lines.
    right = WIDTH - LETTER * max((len(name) for name in drawn), default=0) - 12
    x_axis = Axis([x for x, _ in points], 34, right, "x" in chart["log"])
    y_axis = Axis(shown, bottom, top, "y" in chart["log"], zero="y" not in chart["log"])
    for tick in y_axis.ticks():
        y = y_axis.at(tick)
        parts += [line(34, y, right, y, "grid"), text(30, y + 4, short(tick), "tick", "end")]
    for tick in x_axis.ticks([x for x, _ in points]):
        x = x_axis.at(tick)
        parts += [line(x, top, x, bottom, "grid"), text(x, bottom + 14, short(tick), "tick", "middle")]
    parts.append(text((34 + right) / 2, bottom + 30, chart["x"], "axis", "middle"))
    ends = {}
    for (name, each), (style, dash) in zip(drawn.items(), styles(list(drawn))):
        places = []
        for x, values in each:
            if any(value is None for value in values):
                continue
            at, low, middle, high = x_axis.at(x), *(y_axis.at(of(values)) for of in (min, statistics.median, max))
            places.append((at, middle))
            if low != high:
                parts.append(line(at, low, at, high, f"spread {style}"))
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline class="{style}" points="{path}"' + (f' stroke-dasharray="{dash}"' if dash else "") + "/>")
        parts += [f'<circle class="{style}" cx="{x:.1f}" cy="{y:.1f}" r="2.5"/>' for x, y in places]
        if places:
            ends[name] = (*places[-1], style)
    parts += end_names(ends, right, top, bottom)
    return svg(chart["title"], bottom + 36, parts)


def styles(names: list[str]) -> list[tuple[str, str]]:
    """A colour and a dash for each line. Where all are thrum's, they are told apart as the peers are."""
    peers = names[1:] if all(kind(name) == "thrum" for name in names) else [name for name in names if kind(name) != "thrum"]
    mine = [name for name in names if name not in peers]
    return [
        (f"peer{peers.index(name) % PEERS}", DASHES[peers.index(name) // PEERS % len(DASHES)])
        if name in peers
        else ("thrum", DASHES[mine.index(name) % len(DASHES)])
        for name in names
    ]


def end_names(ends: dict, right: float, top: float, bottom: float) -> list[str]:
    """Each name beside the end of its line, pushed away from the others, with a hint of a line to it."""
    names = sorted(ends, key=lambda name: ends[name][1])
    places = [ends[name][1] for name in names]
    for index in range(1, len(places)):
        places[index] = max(places[index], places[index - 1] + 12)
    limit = bottom
    for index in reversed(range(len(places))):
        places[index] = min(places[index], limit)
        limit = places[index] - 12
    parts = []
    for name, place in zip(names, places):
        x, y, style = ends[name]
        parts.append(line(x + 3, y, right + 5, place, f"hint {style}"))
        parts.append(text(right + 7, place + 4, name, f"end {style}"))
    return parts


class Axis:
    """From values to places."""

    def __init__(self, values: list[float], start: float, end: float, log: bool, zero: bool = False):
        self.start, self.end, self.log = start, end, log
        values = [value for value in values if not log or value > 0] or [1]
        self.low, self.high = 0 if zero else min(values), max(values)
        if log:
            # To the next tick that has a number, so that an axis always has two.
            self.low = max(tick for tick in steps_of_ten(self.low / 10, self.high) if tick <= self.low * 1.0001)
            self.high = min(tick for tick in steps_of_ten(self.low, self.high * 10) if tick >= self.high * 0.9999)
        if self.low == self.high:
            self.high = self.low * 10 if log else self.low + 1

    def at(self, value: float) -> float:
        place = math.log if self.log else float
        value = max(value, self.low)
        share = (place(value) - place(self.low)) / (place(self.high) - place(self.low))
        return self.start + share * (self.end - self.start)

    def ticks(self, only: list[float] | None = None) -> list[float]:
        """Round numbers. If there are few values, these are the ticks."""
        if only and len(set(only)) <= 5:
            return sorted(set(only))
        if self.log:
            ticks = steps_of_ten(self.low, self.high)
            decades = [tick for tick in ticks if math.log10(tick) % 1 < 1e-9 or math.log10(tick) % 1 > 1 - 1e-9]
            return decades if len(decades) > 2 else ticks
        step = 10 ** math.floor(math.log10(self.high - self.low))
        step = next(each for each in (step / 5, step / 2, step, step * 2) if (self.high - self.low) / each <= 6)
        return [index * step for index in range(math.ceil(self.low / step), math.floor(self.high / step + 1e-9) + 1)]


def steps_of_ten(low: float, high: float) -> list[float]:
    """1, 2, 5, 10, 20, ... in between."""
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = [digit * 10.0**exponent for exponent in exponents for digit in (1, 2, 5)]
    return [step for step in steps if low * 0.9999 <= step <= high * 1.0001]


def number(value: float) -> str:
    """Three digits of it."""
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{digits}f}" if value < 1000 else f"{float(f'{value:.3g}'):,.0f}"


def short(value: float) -> str:
    """A tick's number."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"


def heading(title: str) -> tuple[list[str], float]:
    """A chart's title, and where what is below it begins."""
    rows = textwrap.wrap(title, int(WIDTH / LETTER / 1.3), break_on_hyphens=False)
    return [text(0, 12 + 16 * index, row, "title") for index, row in enumerate(rows)], 16 * len(rows) + 8


def text(x: float, y: float, content: str, style: str, anchor: str = "start") -> str:
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(content)}</text>'


def line(x: float, y: float, to_x: float, to_y: float, style: str) -> str:
    return f'<line class="{style}" x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}"/>'


def svg(title: str, height: float, parts: list[str]) -> str:
    label = escape(title, quote=True)
    return f'<svg class="chart" viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{label}">{"".join(parts)}</svg>'
