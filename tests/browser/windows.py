"""What a journey does in a window, whichever browser it belongs to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from browser.chromium import DESKTOP, PHONE, Person, find_what_is_too_wide
from service_process import wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Browser

TIMEOUT_SECONDS = 15


class Window(ABC):
    """A window of a browser. Whatever it looks for may take a while to appear."""

    def press(self, name: str) -> None:
        """Press a button or follow a link."""
        self._click(f'(//a|//button)[normalize-space()="{name}"]')

    def tick(self, label: str) -> None:
        """Tick a box."""
        self._click(_labelled(label))

    def fill(self, label: str, text: str) -> None:
        """Type into a field, in the place of what is in it."""
        self._type(_labelled(label), text)

    def wait_for(self, *texts: str) -> None:
        """Wait until the page shows all of these texts."""
        wait_until(lambda: all(text in self.read() for text in texts), TIMEOUT_SECONDS)

    @abstractmethod
    def open(self, address: str) -> None:
        """Go to an address."""

    @abstractmethod
    def read(self, selector: str = "body") -> str:
        """Return the text of an element."""

    @abstractmethod
    def be_a_phone(self) -> None:
        """Make the page as narrow as on a phone."""

    @abstractmethod
    def is_too_wide(self) -> bool:
        """Say whether the page scrolls sideways."""

    @abstractmethod
    def forget(self) -> None:
        """Sign out, and be a wide window again."""

    @abstractmethod
    def _click(self, xpath: str) -> None: ...

    @abstractmethod
    def _type(self, xpath: str, text: str) -> None: ...


class ChromiumWindow(Window):
    """A window of Chromium."""

    def __init__(self, browser: Browser, base_url: str) -> None:
        self.person = Person(browser, base_url)
        self._page = self.person.page

    def open(self, address: str) -> None:
        self._page.goto(address)

    def read(self, selector: str = "body") -> str:
        return self._page.inner_text(selector)

    def be_a_phone(self) -> None:
        self._page.set_viewport_size(PHONE)

    def is_too_wide(self) -> bool:
        return bool(find_what_is_too_wide(self._page))

    def forget(self) -> None:
        self.person.context.clear_cookies()
        self._page.set_viewport_size(DESKTOP)

    def _click(self, xpath: str) -> None:
        self._page.locator(f"xpath={xpath}").first.click()

    def _type(self, xpath: str, text: str) -> None:
        self._page.locator(f"xpath={xpath}").first.fill(text)


def _labelled(label: str) -> str:
    return f'//*[@id=//label[normalize-space()="{label}"]/@for]'
