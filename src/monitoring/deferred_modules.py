"""Modules that a library imports for something that it is never asked to do here."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any


@contextmanager
def deferred(*names: str) -> Iterator[None]:
    """Let imports inside find these modules without loading them.

    What they find loads the real module when it is called. It can only be called: a library that makes a
    subclass of something, or catches an exception of the module, needs the module itself. Whoever imports
    one of them later gets the real one.
    """
    stand_ins = {name: _Deferred(name) for name in names if name not in sys.modules}
    sys.modules.update(stand_ins)
    try:
        yield
    finally:
        for name in stand_ins:
            del sys.modules[name]


class _Deferred(ModuleType):
    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):  # what the import system asks a module for
            raise AttributeError(name)

        def call(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - whatever it takes
            return getattr(import_module(self.__name__), name)(*args, **kwargs)

        return call
