"""What to say of an unknown name: the names that are known, and which of them may be meant."""

from collections.abc import Iterable

from strategies.names import near_name


def known_text(word: str, known: Iterable[str]) -> str:
    """Lists the known names, first the one nearest to `word`, or those with `word` as a dotted prefix."""
    names = sorted(known)
    begun = [name for name in names if name.startswith(f"{word}.")]
    near = near_name(word, names)
    first = begun or ([] if near is None else [near])
    listed = f"known: {', '.join(first + [name for name in names if name not in first])}"
    return f'did you mean "{first[0]}"? {listed}' if first and not begun else listed
