"""Peers: which of them this machine has, and how their programs are built."""

import shutil
import subprocess
from pathlib import Path

BOOK = Path(__file__).resolve().parent
OUT = BOOK / "out"

# What was left out since the last chapter, and why.
skipped: list[str] = []


def skip(what: str, why: str):
    said = f"{what} ({why})"
    if said not in skipped:
        skipped.append(said)
        print(f"skipped: {said}")


def missing(*programs: str) -> list[str]:
    return [program for program in programs if shutil.which(program) is None]


def installed(program: str, name: str | None = None) -> bool:
    """Whether the machine has a program; if not, the peer is skipped by name."""
    if missing(program):
        skip(name or program, "not installed")
        return False
    return True


def build(source: str, *flags, name: str | None = None) -> Path | None:
    """Builds a peer's program, with more for its compiler and a name of its own if it is built in several ways; none if the
    compiler is missing, or the crates that it uses."""
    path = BOOK / "peers" / source
    OUT.mkdir(exist_ok=True)
    binary = OUT / f"{name or path.stem}-{path.suffix[1:]}"
    if path.suffix == ".rs":
        return build_crate(path, OUT / "rs")
    # What ghc keeps is a folder for each program, since each has a module Main.
    compilers = {
        ".c": ["cc", "-O2", "-o", binary, path],
        ".go": ["go", "build", "-o", binary, path],
        ".hs": ["ghc", "-O2", "-threaded", "-rtsopts", "-v0", "-outputdir", OUT / "hs" / binary.name, "-o", binary, path],
    }
    command = compilers[path.suffix]
    if missing(command[0]):
        skip(source, f"{command[0]} is not installed")
        return None
    subprocess.run([*command, *flags], check=True, cwd=BOOK / "peers")
    return binary


def build_haskell(source: str, *packages: str, flags: tuple[str, ...] = (), name: str | None = None) -> Path | None:
    """Builds a Haskell peer; none if ghc is missing, or a package that it uses."""
    if not missing("ghc"):
        for package in packages:
            if subprocess.run(["ghc-pkg", "field", package, "version"], capture_output=True).returncode != 0:
                skip(source, f"GHC's package {package} is not installed")
                return None
    return build(source, *flags, name=name)


def build_crate(source: Path, target: Path) -> Path | None:
    """Builds a program of a cargo package, `PACKAGE/src/bin/PROGRAM.rs`; none if its crates cannot be had."""
    package = source.parents[2]
    fetched = subprocess.run(["cargo", "fetch", "--quiet", "--locked"], cwd=package, stderr=subprocess.DEVNULL)
    if fetched.returncode != 0:
        skip(f"{package.name} {source.stem}", "its crates cannot be fetched")
        return None
    command = ["cargo", "build", "--release", "--quiet", "--locked", "--target-dir", target, "--bin", source.stem]
    subprocess.run(command, check=True, cwd=package)
    return target / "release" / source.stem


def tokio(program: str) -> Path | None:
    return build(f"tokio/src/bin/{program}.rs")
