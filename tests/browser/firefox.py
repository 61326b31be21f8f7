"""Debian's Firefox, driven by WebDriver's commands over Marionette, since Debian has no geckodriver.

https://firefox-source-docs.mozilla.org/testing/marionette/Protocol.html
"""

from __future__ import annotations

import socket
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import orjson

from browser.chromium import PHONE
from browser.windows import TIMEOUT_SECONDS, Window
from debian_programs import find_program
from service_process import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Firefox chooses a port, writes errors of pages to its output, and calls nobody at home.
PREFERENCES = """
user_pref("marionette.port", 0);
user_pref("devtools.console.stdout.content", true);
user_pref("services.settings.server", "data:,");
user_pref("app.normandy.enabled", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("browser.safebrowsing.update.enabled", false);
"""

ZOOM = """
const page = gBrowser.selectedBrowser;
page.fullZoom = arguments[0] ? page.clientWidth / arguments[0] : 1;
"""


class Firefox(Window):
    """The window of a browser with one window."""

    def __init__(self, connection: socket.socket) -> None:
        self._answers = connection.makefile("rb")
        self._connection = connection
        self._receive()  # it introduces itself
        self._command("WebDriver:NewSession")
        self._command("WebDriver:SetTimeouts", implicit=TIMEOUT_SECONDS * 1000)

    def open(self, address: str) -> None:
        self._command("WebDriver:Navigate", url=address)

    def read(self, selector: str = "body") -> str:
        text: str = self._execute("return document.querySelector(arguments[0]).innerText", selector)
        return text

    def be_a_phone(self) -> None:
        """Be as narrow. Windows are wider at the least, so the page is zoomed."""
        self._command("WebDriver:SetWindowRect", width=500, height=900)
        self._zoom(PHONE["width"])
        wait_until(lambda: abs(self._execute("return innerWidth") - PHONE["width"]) < 5, TIMEOUT_SECONDS)

    def is_too_wide(self) -> bool:
        element = "document.documentElement"
        return bool(self._execute(f"return {element}.scrollWidth > {element}.clientWidth"))

    def forget(self) -> None:
        self._command("WebDriver:DeleteAllCookies")
        self._command("WebDriver:SetWindowRect", width=1280, height=900)
        self._zoom(None)

    def _zoom(self, page_width: int | None) -> None:
        self._command("Marionette:SetContext", value="chrome")
        self._execute(ZOOM, page_width)
        self._command("Marionette:SetContext", value="content")

    def _find(self, xpath: str) -> str:
        found = self._command("WebDriver:FindElement", using="xpath", value=xpath)
        (element,) = found["value"].values()
        return str(element)

    def _click(self, xpath: str) -> None:
        self._command("WebDriver:ElementClick", id=self._find(xpath))

    def _type(self, xpath: str, text: str) -> None:
        field = self._find(xpath)
        self._command("WebDriver:ElementClear", id=field)
        self._command("WebDriver:ElementSendKeys", id=field, text=text)

    def _execute(self, script: str, *arguments: Any) -> Any:
        return self._command("WebDriver:ExecuteScript", script=script, args=arguments)["value"]

    def _command(self, name: str, **parameters: Any) -> Any:
        packet = orjson.dumps([0, 0, name, parameters])
        self._connection.sendall(b"%d:%b" % (len(packet), packet))
        _, _, error, result = self._receive()
        assert error is None, f"{name} {parameters}: {error}"
        return result

    def _receive(self) -> Any:
        length = b""
        while (byte := self._answers.read(1)) not in (b":", b""):
            length += byte
        return orjson.loads(self._answers.read(int(length)))


@contextmanager
def running_firefox(folder: Path) -> Iterator[Firefox]:
    """Start a browser with a new profile. Fails for errors of pages."""
    profile, log = folder / "profile", folder / "log"
    profile.mkdir()
    (profile / "user.js").write_text(PREFERENCES)
    options = [
        "--headless",
        "--marionette",
        "--remote-allow-system-access",
        "--no-remote",
    ]  # which zooming takes
    command = [find_program("firefox-esr"), *options, "--profile", str(profile)]
    with log.open("w") as output, subprocess.Popen(command, stdout=output, stderr=output) as process:
        try:
            port = profile / "MarionetteActivePort"
            wait_until(lambda: (port.exists() and port.read_text()) or process.poll() is not None)
            with socket.create_connection(("127.0.0.1", int(port.read_text())), timeout=60) as connection:
                yield Firefox(connection)
        finally:
            process.terminate()
    lines = log.read_text(errors="replace").splitlines()
    assert [line for line in lines if line.startswith("JavaScript error: http")] == []
