"""Plants lies, which are deliberate faults, in functions, methods and constants with a public name.

A lie is planted in the process of the test that detects it, and the source files are not changed. A function
can therefore be rewritten, or moved to another file of its package, without changing its lies.
"""

from __future__ import annotations

import inspect
import pkgutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from monitoring.contract.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

PACKAGE = "monitoring"

Lying = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Seam:
    """A public name under `monitoring`, and a function that turns the object with this name into a lie.

    For example, `checks.request_check` is the function with this name in any module of the package `checks`.
    If a name occurs in several modules, it includes its module, as in `monitors.handlers.create_monitor`.
    """

    name: str
    lying: Lying

    def find(self) -> tuple[Any, str]:
        """Return the module or class that has the name as an attribute, and the attribute.

        Raises LookupError.
        """
        holder: Any
        holder, (*steps, last) = _find_module(self.name)
        for step in steps:
            holder = getattr(holder, step, None)
        if not hasattr(holder, last):
            raise LookupError(f"monitoring has no {self.name}")
        return holder, last

    def plant(self) -> None:
        """Replace the original object with the lie wherever this process has imported it."""
        holder, name = self.find()
        truth = getattr(holder, name)
        lie = self.lying(truth)
        setattr(holder, name, lie)
        if inspect.ismodule(holder) and callable(truth):
            for module in list(sys.modules.values()):
                for other, value in list(vars(module).items()):
                    if value is truth:
                        setattr(module, other, lie)


def lying(
    *,
    asked: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda _: {},
    answered: Callable[[Any], Any] = lambda answer: answer,
) -> Lying:
    """Return a lie that calls the original function with other arguments, changes its result, or both.

    `asked` gets all arguments by name, and returns the arguments to replace.
    """

    def lie_about(truth: Any) -> Any:
        signature = inspect.signature(truth)

        def bind(*args: Any, **kwargs: Any) -> inspect.BoundArguments:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            bound.arguments.update(asked(bound.arguments))
            return bound

        if inspect.iscoroutinefunction(truth):

            @wraps(truth)
            async def lie_in_time(*args: Any, **kwargs: Any) -> Any:
                bound = bind(*args, **kwargs)
                return answered(await truth(*bound.args, **bound.kwargs))

            return lie_in_time

        @wraps(truth)
        def lie(*args: Any, **kwargs: Any) -> Any:
            bound = bind(*args, **kwargs)
            return answered(truth(*bound.args, **bound.kwargs))

        return lie

    return lie_about


def always(*, answer: Any) -> Lying:
    """Return a lie that does not call the original function, but always returns `answer`."""

    def lie_about(truth: Any) -> Any:
        @wraps(truth)
        def lie(*_: Any, **__: Any) -> Any:
            return answer

        @wraps(truth)
        async def lie_in_time(*_: Any, **__: Any) -> Any:
            return answer

        return lie_in_time if inspect.iscoroutinefunction(truth) else lie

    return lie_about


def refusing(problem: str, otherwise: Problem | None) -> Lying:
    """Return a lie about a coroutine that raises `problem`: it raises another problem, or none."""

    def lie_about(truth: Any) -> Any:
        @wraps(truth)
        async def lie(*args: Any, **kwargs: Any) -> Any:
            try:
                return await truth(*args, **kwargs)
            except Problem as refusal:
                if refusal.name != problem:
                    raise
                if otherwise:
                    raise otherwise from None
                return None

        return lie

    return lie_about


def _find_module(name: str) -> tuple[ModuleType, list[str]]:
    module, rest = import_module(PACKAGE), name.split(".")
    while hasattr(module, "__path__") and find_spec(f"{module.__name__}.{rest[0]}"):
        module = import_module(f"{module.__name__}.{rest.pop(0)}")
    if not hasattr(module, "__path__"):
        return module, rest
    below = [found.name for found in pkgutil.walk_packages(module.__path__, f"{module.__name__}.")]
    homes = [
        home
        for home in map(import_module, below)
        if getattr(vars(home).get(rest[0]), "__module__", None) == home.__name__
    ]
    if len(homes) != 1:
        raise LookupError(f"monitoring has {len(homes)} {name}")
    return homes[0], rest
