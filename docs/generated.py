"""How the pages that are made from the code are written, or held against it: ``python docs/PAGE.py [--check]``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def write_or_check(file: Path, wanted: str, said: str) -> None:
    """Write a page, or with ``--check`` write nothing and fail unless it is current. ``said``: what `--help` says."""
    parser = argparse.ArgumentParser(description=said)
    parser.add_argument("--check", action="store_true", help="write nothing; fail unless the file is current")
    if not parser.parse_args().check:
        file.write_text(wanted, "utf-8")
    elif not file.exists() or file.read_text("utf-8") != wanted:
        sys.exit(f"{file.name} is not current: run `make docs`")
