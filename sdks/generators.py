"""The six SDKs: how each is generated, compiled and run. One function a generator.

Each has a folder of its own in build/sdks, in which the generated code lies beside a copy of the journey and,
where there is one for that language, of the example: as in the project of somebody who uses it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parent.parent
SDKS = ROOT / "sdks"
EXAMPLES = ROOT / "examples"
DOCUMENT = ROOT / "openapi.yaml"
BUILD = ROOT / "build" / "sdks"
PYTHON = BUILD / "venv" / "bin"
PACKAGES = BUILD / "node_modules" / ".bin"
JAVA_PACKAGE = "com.example.monitoring"

# docs/guides/generate-an-sdk.md says the same, and why.
JAVA_OPTIONS = (
    f"invokerPackage={JAVA_PACKAGE},apiPackage={JAVA_PACKAGE}.api,modelPackage={JAVA_PACKAGE}.model,"
    "useJakartaEe=true,openApiNullable=false"  # Debian has no jackson-databind-nullable
)
GO_OPTIONS = "packageName=monitoring,withGoMod=false,enumClassPrefix=true,generateUnmarshalJSON=false"
RUBY_OPTIONS = "gemName=monitoring,moduleName=Monitoring"

DEBIAN_JARS = ("jakarta-annotation-api", "httpmime", "httpclient", "httpcore", "commons-logging")


@dataclass(frozen=True)
class Sdk:
    """What `make sdks` makes of the document with one generator."""

    name: str
    build: Callable[[Path], None]
    journey: tuple[str, ...]  # how to run it, in the SDK's folder
    example: tuple[str, ...] | None = None

    @property
    def folder(self) -> Path:
        return BUILD / self.name

    def rebuild(self) -> None:
        """Generate and compile, from nothing. Raises `BuildError` with what the failing tool printed."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.build(self.folder)


class BuildError(Exception):
    """A tool failed; the message is its command line and what it printed."""


def openapi_python_client(folder: Path) -> None:
    _copy(folder, SDKS / "journeys" / "journey.py", EXAMPLES / "python" / "monitors.py")
    _run(
        folder,
        PYTHON / "openapi-python-client",
        *("generate", "--path", DOCUMENT, "--meta", "none", "--output-path", "monitoring_client"),
    )
    _run(
        folder,
        *(Path(sys.executable).parent / "mypy", "--strict", "--config-file", ""),
        *("--no-incremental", "--no-warn-redundant-casts"),  # it casts a list of anything to just that
        *("--python-executable", PYTHON / "python", "journey.py", "monitors.py"),
    )


def openapi_typescript(folder: Path) -> None:
    _copy(folder, SDKS / "tsconfig.json", EXAMPLES / "typescript" / "monitors.ts")
    _copy(folder, SDKS / "journeys" / "openapi_fetch_journey.ts", name="journey.ts")
    # Without the option, a field with a default would be required in requests too (docs/decisions/0012).
    options = ("--default-non-nullable=false", "-o", "monitoring.ts")
    _run(folder, PACKAGES / "openapi-typescript", DOCUMENT, *options)
    _run(folder, PACKAGES / "tsc")


def hey_api(folder: Path) -> None:
    _copy(folder, SDKS / "tsconfig.json")
    _copy(folder, SDKS / "journeys" / "hey_api_journey.ts", name="journey.ts")
    _run(folder, PACKAGES / "openapi-ts", "-i", DOCUMENT, "-o", "monitoring", "--no-log-file")
    _run(folder, PACKAGES / "tsc")


def java(folder: Path) -> None:
    _copy(folder, SDKS / "journeys" / "Journey.java", EXAMPLES / "java" / "Monitors.java")
    _openapi_generator(folder, "java", "--library", "native", f"--additional-properties={JAVA_OPTIONS}")
    sources = [path.relative_to(folder) for path in (folder / "monitoring" / "src" / "main").rglob("*.java")]
    options = ("-nowarn", "-cp", _java_libraries(), "-d", "classes")
    _run(folder, "javac", *options, "Journey.java", "Monitors.java", *sources)


def go(folder: Path) -> None:
    _copy(folder, SDKS / "go.mod")
    _copy(folder / "journey", SDKS / "journeys" / "journey.go")
    _copy(folder / "example", EXAMPLES / "go" / "monitors.go")
    _openapi_generator(folder, "go", f"--additional-properties={GO_OPTIONS}")
    shutil.rmtree(folder / "monitoring" / "test")  # empty tests that want a module from elsewhere
    _run(folder, "go", "vet", "./...")
    _run(folder, "go", "build", "-o", "bin/", "./journey", "./example")


def ruby(folder: Path) -> None:
    _copy(folder, SDKS / "journeys" / "journey.rb", EXAMPLES / "ruby" / "monitors.rb")
    _openapi_generator(folder, "ruby", "--library", "faraday", f"--additional-properties={RUBY_OPTIONS}")
    for program in ("journey.rb", "monitors.rb"):
        _run(folder, "ruby", "-W:all", "-c", program)
    _run(folder, "ruby", "-I", "monitoring/lib", "-e", "require 'monitoring'")


def _openapi_generator(folder: Path, language: str, *options: str) -> None:
    command = PYTHON / "openapi-generator-cli"
    _run(folder, command, "generate", "-g", language, "-i", DOCUMENT, "-o", "monitoring", *options)


def _java_libraries() -> str:
    """Name the jars: Jackson comes out of the generator's own."""
    generator = next((BUILD / "venv").glob("lib/*/site-packages/openapi_generator_cli/openapi-generator.jar"))
    return os.pathsep.join([str(generator), *(f"/usr/share/java/{name}.jar" for name in DEBIAN_JARS)])


def _copy(folder: Path, *sources: Path, name: str | None = None) -> None:
    folder.mkdir(exist_ok=True)
    for source in sources:
        shutil.copy(source, folder / (name or source.name))


def _run(folder: Path, *command: str | Path) -> None:
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=folder, env=environment(), capture_output=True, text=True, check=False)
    if done.returncode:
        raise BuildError(f"{' '.join(words)}\n{done.stdout}{done.stderr}")


def environment() -> dict[str, str]:
    """Return the environment of every tool: nothing is fetched, nothing is told to anybody."""
    return os.environ | {
        "GOCACHE": str(BUILD / "go-cache"),
        "GOFLAGS": "-mod=mod",
        "GOPROXY": "off",
        "GOTOOLCHAIN": "local",
        "DO_NOT_TRACK": "1",
        "NO_COLOR": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def all_sdks() -> list[Sdk]:
    """Return the SDKs, the slowest first."""
    java_command = ("java", "-cp", f"classes{os.pathsep}{_java_libraries()}")
    ruby_command = ("ruby", "-I", "monitoring/lib")
    python = str(PYTHON / "python")
    node = ("node", "compiled/journey.js")
    return [
        Sdk("java", java, (*java_command, "Journey"), (*java_command, "Monitors")),
        Sdk("go", go, ("bin/journey",), ("bin/example",)),
        Sdk("python", openapi_python_client, (python, "journey.py"), (python, "monitors.py")),
        Sdk("openapi-fetch", openapi_typescript, node, ("node", "compiled/monitors.js")),
        Sdk("hey-api", hey_api, node),
        Sdk("ruby", ruby, (*ruby_command, "journey.rb"), (*ruby_command, "monitors.rb")),
    ]
