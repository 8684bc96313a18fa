"""Objects that pickle and copy as their constructor's arguments, not as what was compiled."""

from __future__ import annotations

from typing import Any


def _rebuilt(kind: Any, base: Any, arguments: tuple[Any, ...], more: dict[str, Any]) -> Any:
    made = kind.__new__(kind)
    base.__init__(made, *arguments)
    vars(made).update(more)
    return made


class Rebuilt:
    """Base of classes whose constructor ends with :meth:`_remember`.

    A subclass with another constructor is rebuilt by the constructor of the base, and gets the
    attributes that it had beside those of the base.
    """

    _recipe: tuple[type, tuple[Any, ...], frozenset[str]]

    def _remember(self, base: type, *arguments: Any) -> None:
        """Remember the arguments of the constructor of `base`."""
        self._recipe = base, arguments, frozenset((*vars(self), "_recipe"))

    def __reduce__(self) -> Any:
        base, arguments, own = self._recipe
        more = {name: value for name, value in vars(self).items() if name not in own}
        return _rebuilt, (type(self), base, arguments, more)
