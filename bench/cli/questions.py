"""Questions on the terminal, each with an answer to accept."""

import re
from collections.abc import Callable
from typing import TypeVar

import typer

from bench.cli.output import EXIT_INTERRUPTED, print_remark
from strategies.quantities import parse_bytes

_NUMBER = re.compile(r"\d{1,15}(\.\d{1,15})?")
T = TypeVar("T")


def ask(question: str, default: str, parse: Callable[[str], T]) -> T:
    """Ask until the answer can be parsed. Raises Exit if there is nobody to answer, or the user stops."""
    while True:
        try:
            answer = typer.prompt(question, default=default)
        except typer.Abort:
            print_remark("stopped; nothing was written")
            raise typer.Exit(EXIT_INTERRUPTED) from None
        try:
            return parse(answer.strip())
        except ValueError as error:
            print_remark(str(error))


def one_of(*names: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text.lower() not in names:
            raise ValueError(f"write {' or '.join(names)}")
        return text.lower()

    return parse


def number(most: float) -> Callable[[str], float]:
    def parse(text: str) -> float:
        if not _NUMBER.fullmatch(text) or float(text) > most:
            raise ValueError(f"write a number from 0 to {most:,}")
        return float(text)

    return parse


def whole(most: int, least: int = 1) -> Callable[[str], int]:
    def parse(text: str) -> int:
        digits = text.replace(",", "")
        if not digits.isdecimal() or not least <= int(digits) <= most:
            raise ValueError(f"write a whole number from {least:,} to {most:,}")
        return int(digits)

    return parse


def rows_or_size(most: int, least: int, rows_of: Callable[[int], int]) -> Callable[[str], int]:
    """A number of rows, or a size such as "5MB", of which `rows_of` says how many rows have so many bytes."""

    def parse(text: str) -> int:
        is_size = text[:1].isdecimal() and text[-1:].isalpha()
        try:
            return whole(most, least)(str(rows_of(parse_bytes(text))) if is_size else text)
        except ValueError as error:
            raise ValueError(f"{error}, or a size such as 5MB") from error

    return parse
