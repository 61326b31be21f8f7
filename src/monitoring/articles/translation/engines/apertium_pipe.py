"""A long-running Apertium pipeline that reads and writes Apertium's stream format."""

import os
import selectors
import signal
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO, cast

from monitoring.articles.translation.engines.protocol import TransientEngineError

MODE_COMPILER = "apertium-wblank-mode"  # from the package apertium; turns a mode file into a shell pipeline
_CHUNK_BYTES = 65_536


class ApertiumPipe:
    """A pipeline of about a dozen processes. A NUL character makes it flush its output.

    The pipeline starts on first use, restarts after it dies, and ends with this process. Only one thread at a
    time uses it.
    """

    def __init__(self, mode_file: Path, silence_timeout_seconds: float) -> None:
        self._mode_file = mode_file
        self._silence_timeout_seconds = silence_timeout_seconds
        self._running: subprocess.Popen[bytes] | None = None
        self._turn = threading.Lock()

    def translate(self, texts: Sequence[str]) -> list[str]:
        """Return the translations of texts, in order.

        Raises TransientEngineError if the pipeline times out or dies twice.
        """
        with self._turn:
            try:
                return self._exchange(texts)
            except (EOFError, OSError):
                self._kill()
            try:
                return self._exchange(texts)
            except (EOFError, OSError) as error:
                self._kill()
                raise TransientEngineError(f"Apertium mode {self._mode_file.stem} died twice") from error

    def close(self) -> None:
        """Stop the processes once any translation in progress has finished."""
        with self._turn:
            self._kill()

    def _exchange(self, texts: Sequence[str]) -> list[str]:
        """Send texts to the pipeline, and return its output for each.

        Writing and reading alternate, because each pipe can hold only a limited amount of data.
        """
        process = self._running = self._running or self._started()
        stdin, stdout = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
        unsent = memoryview(b"".join(text.encode() + b"\0" for text in texts))
        received = bytearray()
        missing = len(texts)
        with selectors.DefaultSelector() as ready:
            ready.register(stdout, selectors.EVENT_READ)
            ready.register(stdin, selectors.EVENT_WRITE)
            while missing > 0:
                events = ready.select(self._silence_timeout_seconds)
                if not events:
                    self._kill()
                    raise TransientEngineError(
                        f"Apertium mode {self._mode_file.stem} did not respond for"
                        f" {self._silence_timeout_seconds:g} seconds"
                    )
                for key, _ in events:
                    if key.fileobj is stdin:
                        unsent = unsent[os.write(key.fd, unsent[:_CHUNK_BYTES]) :]
                        if not unsent:
                            ready.unregister(stdin)
                    else:
                        chunk = os.read(key.fd, _CHUNK_BYTES)
                        if not chunk:
                            raise EOFError
                        missing -= chunk.count(0)
                        received += chunk
        if missing < 0:
            raise EOFError  # more translations than texts, so the pipeline is out of sync
        return received.decode().split("\0")[:-1]

    def _started(self) -> subprocess.Popen[bytes]:
        compiled = subprocess.run(  # noqa: S603 (a mode file of the system)
            [MODE_COMPILER, "-z", self._mode_file], capture_output=True, text=True, check=True
        )
        # The mode passes `$1` to the generator as an option. The option `-n` leaves unknown words unmarked.
        process = subprocess.Popen(  # noqa: S603
            ["/bin/bash", "-c", compiled.stdout, "apertium", "-n", ""],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,
        )
        os.set_blocking(cast("IO[bytes]", process.stdin).fileno(), False)
        return process

    def _kill(self) -> None:
        process, self._running = self._running, None
        if process:
            with process:
                os.killpg(process.pid, signal.SIGKILL)
