"""What to say of an unknown name: the names that are known, and which of them may be meant."""

from collections.abc import Iterable

from strategies.names import near_name

_OTHERS_MAX = 30  # names that a message lists besides those that may be meant


def known_text(word: str, known: Iterable[str]) -> str:
    """Lists the known names, first the one nearest to `word`, or those with `word` as a dotted prefix.

    Of many others, the names that contain `word` are listed and the rest is counted.
    """
    names = sorted(known)
    begun = [name for name in names if name.startswith(f"{word}.")]
    near = near_name(word, names)
    first = begun or ([] if near is None else [near])
    alike = [name for name in names if word and word in name and name not in first]
    others = [name for name in names if name not in (*first, *alike)]
    listed = f"known: {', '.join([*first, *alike, *others])}"
    if (first or alike) and len(others) > _OTHERS_MAX:
        listed = f"known: {', '.join([*first, *alike])} and {len(others)} others"
    return f'did you mean "{first[0]}"? {listed}' if first and not begun else listed
