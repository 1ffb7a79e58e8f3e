"""The chapters in the order of the book: what the articles measured that thrum descends from, then the rest."""

import importlib

NAMES = [
    *["doubling", "simple", "fast_slow", "spawn", "files", "parsing", "pipes", "text", "idle", "handoff", "scale"],
    *["pong", "bursts", "crowd", "small_files", "tls", "http2", "proxy", "cgi", "client", "bench", "axum", "micro", "logtop"],
]


def modules() -> dict:
    return {name: importlib.import_module(f"chapters.{name}") for name in NAMES}
