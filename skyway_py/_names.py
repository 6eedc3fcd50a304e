"""Names of JVMs and graphs."""

from __future__ import annotations

import re
from typing import Final

from skyway_py._errors import InvalidRequest

_JVM: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def checked_jvm_name(name: str) -> str:
    """A JVM's name as given.

    :raises InvalidRequest: it has other characters than letters, digits, dot, dash and underscore.
    """
    if not _JVM.fullmatch(name):
        raise InvalidRequest(
            f"'{name}' is not a JVM's name: use up to 64 letters, digits, dots, dashes and underscores, "
            "a letter or digit first"
        )
    return name


def split_source(text: str) -> tuple[str, str]:
    """Splits "left:catalog" into ("left", "catalog").

    :raises InvalidRequest: it lacks the JVM or the root.
    """
    jvm, colon, root = text.partition(":")
    if not colon or not root:
        raise InvalidRequest(f"'{text}' does not name a graph: write JVM:ROOT, such as left:catalog")
    return checked_jvm_name(jvm), root


def split_target(text: str) -> tuple[str, str | None]:
    """Splits "right" into ("right", None), and "right:copy" into ("right", "copy").

    :raises InvalidRequest: it lacks the JVM, or nothing follows the colon.
    """
    jvm, colon, destination = text.partition(":")
    if colon and not destination:
        raise InvalidRequest(f"'{text}' names no destination after the colon: write JVM or JVM:DESTINATION")
    return checked_jvm_name(jvm), destination or None


def default_destination(root: str) -> str:
    """Where a graph goes when nobody says: its name; for a static field path the last name in it.

    A path as such would overwrite the receiver's own field, which nobody asked for.
    """
    if "#" not in root:
        return root
    return re.split(r"[#.\[]", root.split("[", 1)[0])[-1]
