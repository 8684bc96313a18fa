"""Objects that pickle and copy as their constructor's arguments, not as what was compiled."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from PyGPU._runtime import errors
from PyGPU._runtime.targets import core

if TYPE_CHECKING:
    from PyGPU._types import P, R


class NotLoaded:
    """Result of a pickle that a forked child cannot load; each use raises the error.

    A worker of multiprocessing.Pool that fails while it loads a task reports nothing, and its
    parent waits forever. A task that fails later is reported.
    """

    def __init__(self, error: errors.Error) -> None:
        self._error = error

    def __getattr__(self, name: str) -> NoReturn:
        # Python asks for special methods, and `copy` does so before the error is set.
        if name.startswith("__") or name == "_error":
            raise AttributeError(name)
        raise self._error

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise self._error

    def __repr__(self) -> str:
        return f"<not loaded: {self._error}>"


def loads_later(load: Callable[P, R]) -> Callable[P, R | NotLoaded]:
    """Make the function of a pickle return NotLoaded where it fails in a forked child."""

    @functools.wraps(load)
    def loaded(*args: P.args, **kwargs: P.kwargs) -> R | NotLoaded:
        try:
            return load(*args, **kwargs)
        except errors.Error as error:
            if core._is_forked_child():
                return NotLoaded(error)
            raise

    return loaded


@loads_later
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
