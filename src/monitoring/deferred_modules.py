"""Modules that a library imports for something that it is never asked to do here."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any


@contextmanager
def deferred(*names: str) -> Iterator[None]:
    """Let imports inside find these modules without loading them.

    What they find loads the real module when it is called. A library may also make subclasses of it, as long
    as nobody calls them, and ask whether something is its instance, which nothing is. A library that catches
    an exception of the module needs the module itself. Whoever imports one of them later gets the real one.
    """
    stand_ins = {name: _Deferred(name) for name in names if name not in sys.modules}
    sys.modules.update(stand_ins)
    try:
        yield
    finally:
        for name in stand_ins:
            del sys.modules[name]


class _Deferred(ModuleType):
    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):  # what the import system asks a module for
            raise AttributeError(name)
        return _StandIn(name, (), {"_module": self.__name__})


class _StandIn(type):
    """A class in place of a class or a function."""

    _module: str

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - whatever it takes
        return getattr(import_module(cls._module), cls.__name__)(*args, **kwargs)
