"""Messages that are executed, how the app ends itself, and how the texts of failures are cut."""
from __future__ import annotations

from typing import Any, List, Optional, Tuple

TEXT_MAX, TEXTS_MAX = 4096, 20_000


class Stopped(Exception):
    """The app ends: a Goodbye code and why."""

    def __init__(self, code: int, why: str) -> None:
        super().__init__(why)
        self.code, self.why = code, why


class Message:
    """A message that is executed: where it stands, who sent it, and who awaits its answer."""

    def __init__(self, place: Tuple[int, int], kind: int, caller: str, method: int, arguments: bytes) -> None:
        self.place, self.kind, self.caller, self.method, self.arguments = place, kind, caller, method, arguments
        self.call = 0
        self.asker: Optional[List[int]] = None
        self.key: Optional[bytes] = None
        self.tries = 0
        self.kept = False

    def save(self) -> List[Any]:
        """The message as a flow's image holds it."""
        return [list(self.place), self.kind, self.caller, self.method, self.arguments, self.call, self.asker, self.key, self.tries, self.kept]

    @staticmethod
    def restore(row: List[Any]) -> "Message":
        """The message of a flow's image."""
        message = Message((row[0][0], row[0][1]), *row[1:5])
        message.call, message.asker, message.key, message.tries, message.kept = row[5:]
        return message


def cut(chain: Optional[List[Any]], left: int) -> Optional[List[Any]]:
    """A failure whose texts are cut, the innermost first (P4.4)."""
    if chain is None:
        return None
    name, message = (_front(text, TEXT_MAX) for text in chain[:2])
    name = _front(name, left)
    message = _front(message, left - _units(name))
    return [name, message, cut(chain[2], left - _units(name) - _units(message))]


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _front(text: str, units: int) -> str:
    return text.encode("utf-16-le")[:2 * units].decode("utf-16-le", "replace")
