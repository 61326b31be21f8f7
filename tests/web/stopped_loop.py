"""A loop whose clock stands until a test moves it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(eq=False)
class Timer:
    """What the loop does at a moment."""

    loop: StoppedLoop
    moment: float
    act: Callable[[], None]

    def cancel(self) -> None:
        self.loop.timers.remove(self)


class StoppedLoop:
    """Is only asked for timers."""

    def __init__(self) -> None:
        self.now = 0.0
        self.timers: list[Timer] = []

    def time(self) -> float:
        return self.now

    def call_later(self, seconds: float, act: Callable[..., None], *args: object) -> Timer:
        self.timers.append(Timer(self, self.now + seconds, partial(act, *args)))
        return self.timers[-1]

    def pass_until(self, moment: float) -> None:
        while due := [timer for timer in self.timers if timer.moment <= moment]:
            first = min(due, key=lambda timer: timer.moment)
            self.timers.remove(first)
            self.now = first.moment
            first.act()
        self.now = moment
