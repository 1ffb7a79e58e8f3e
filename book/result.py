"""What a chapter found: tables, charts, and the bars that thrum is held to."""

import math
import statistics
from dataclasses import dataclass, field


@dataclass
class Figures:
    """What was measured, a figure a round. Infinity is the wait of a client that was never answered."""

    values: list[float]
    digits: int

    def __str__(self) -> str:
        """The median, and of several the least and most in brackets; "none" if all are infinite."""
        low, middle, high = min(self.values), statistics.median(self.values), max(self.values)
        if math.isinf(low):
            return "none"
        if len(self.values) == 1:
            return f"{middle:,.{self.digits}f}"
        return f"{middle:,.{self.digits}f} [{low:,.{self.digits}f} .. {high:,.{self.digits}f}]"


def spread(values: list[float], digits: int = 2) -> Figures:
    return Figures(values, digits)


def ratios(mine: list[float], other: list[float]) -> list[float]:
    """Round by round, so that a machine that drifts does not matter."""
    return [a / b for a, b in zip(mine, other)]


@dataclass
class Table:
    columns: list[str]
    title: str = ""
    rows: list[list] = field(default_factory=list)

    def row(self, *cells: str | Figures):
        self.rows.append(list(cells))

    def show(self):
        lines = [self.columns, *([str(cell) for cell in row] for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*lines)]
        text = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |" for line in lines]
        text.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
        print("\n".join([*([f"\n{self.title}\n"] if self.title else []), *text]))


# A name, what was measured, "at most" or "at least", and the bar.
Bar = tuple[str, list[float], str, float]


@dataclass
class Result:
    tables: list[Table] = field(default_factory=list)
    charts: list[dict] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)
    raw: dict = field(default_factory=dict)

    def table(self, columns: list[str], title: str = "") -> Table:
        self.tables.append(Table(columns, title))
        return self.tables[-1]

    def bar_chart(self, title: str, axis: str, groups: dict[str, dict[str, list[float]]] | dict[str, list[float]], log: bool = False):
        """Bars, or groups of them that have names: the rounds of each. Their axis says what is shown, in which unit."""
        if not any(isinstance(each, dict) for each in groups.values()):
            groups = {"": groups}
        self.charts.append({"kind": "bars", "title": title, "axis": axis, "groups": groups, "log": log})

    def line_chart(self, title: str, x: str, y: str, lines: dict[str, list[tuple[float, list[float]]]], log: str = "xy"):
        """Lines through points: a place on the first axis, and the rounds measured there. `log` names logarithmic axes."""
        self.charts.append({"kind": "lines", "title": title, "x": x, "y": y, "lines": lines, "log": log})

    def at_most(self, what: str, measured: list[float], bar: float):
        """The median of what was measured, a figure a round, is at most the bar."""
        self.bars.append((what, measured, "at most", bar))

    def at_least(self, what: str, measured: list[float], bar: float):
        self.bars.append((what, measured, "at least", bar))

    def failed(self) -> list[str]:
        return [bar[0] for bar in self.bars if not holds(bar)]

    def show(self):
        for table in self.tables:
            table.show()
        for bar in self.bars:
            what, measured, relation, limit = bar
            print(f"{'holds' if holds(bar) else 'MISSED'}: {what}: {spread(measured)}, {relation} {limit:g}")

    def figures(self) -> dict:
        """All of it for a JSON file."""
        tables = [vars(table) for table in self.tables]
        return plain({"tables": tables, "charts": self.charts, "bars": self.bars, "raw": self.raw})


def holds(bar: Bar) -> bool:
    _, measured, relation, limit = bar
    middle = statistics.median(measured)
    return middle <= limit if relation == "at most" else middle >= limit


def plain(value):
    """Of what JSON knows: it has no infinity."""
    match value:
        case float() if not math.isfinite(value):
            return None
        case Figures():
            return plain(vars(value))
        case dict():
            return {key: plain(each) for key, each in value.items()}
        case list() | tuple():
            return [plain(each) for each in value]
    return value


def series(results: dict, attribute: str) -> dict[str, list[float]]:
    """One of the figures that were measured, of each name."""
    return {name: [getattr(each, attribute) for each in measured] for name, measured in results.items()}


def cost_table(results: dict, title: str = "", who: str = "server", what: str = "request") -> Result:
    """What each request cost, of what `harness.Load` measured, and a chart of it if that has a title."""
    result = Result()
    if title:
        result.bar_chart(title, f"µs of CPU a {what}, less is better", series(results, "cpu_us"))
    table = result.table([who, f"CPU a {what}, us", "of it user", "of it system", f"{what}s/s", "p99, ms"])
    for name, loads in results.items():
        table.row(
            name,
            spread([load.cpu_us for load in loads]),
            spread([load.user_us for load in loads]),
            spread([load.system_us for load in loads]),
            spread([load.rate for load in loads], 0),
            "-" if any(load.p99_ms is None for load in loads) else spread([load.p99_ms for load in loads]),
        )
        result.raw[name] = [vars(load) for load in loads]
    return result


def compare(result: Result, results, what: str, mine: str, other: str, bar: float, least=False, of="cpu_us"):
    """Holds a ratio of two servers to a bar, if both were measured."""
    if mine not in results or other not in results:
        return
    values = ratios([getattr(load, of) for load in results[mine]], [getattr(load, of) for load in results[other]])
    add = result.at_least if least else result.at_most
    add(f"{what}, {mine} to {other}", values, bar)
