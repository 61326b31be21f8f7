"""The SDKs: how each is generated, compiled and run, one function a generator.

Each has its own folder in build/sdks. There the generated code lies beside the guide's recipe and copies of
the journey and the example, if there are any, as in the project of somebody who uses the SDK.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from building import (
    BUILD,
    DERIVED,
    DOCUMENT,
    EXAMPLES,
    PACKAGES,
    PYTHON,
    SDKS,
    BuildError,
    Sdk,
    copy,
    read_code,
    run,
    write_recipe,
)

JAVA_PACKAGE = "com.example.monitoring"

# docs/guides/generate-an-sdk.md lists the same options, and says why.
JAVA_OPTIONS = (
    f"invokerPackage={JAVA_PACKAGE},apiPackage={JAVA_PACKAGE}.api,modelPackage={JAVA_PACKAGE}.model,"
    "useJakartaEe=true,openApiNullable=false"  # Debian has no jackson-databind-nullable
)
GO_OPTIONS = (
    "packageName=monitoring,withGoMod=false,enumClassPrefix=true,"
    "disallowAdditionalPropertiesIfNotPresent=false,useOneOfDiscriminatorLookup=true"
)
RUBY_OPTIONS = "gemName=monitoring,moduleName=Monitoring"
PYDANTIC_OPTIONS = (
    "--output-model-type pydantic_v2.BaseModel --use-annotated --set-default-enum-member --formatters builtin"
)
CSHARP_OPTIONS = "packageName=Monitoring,validatable=false"
KOTLIN_OPTIONS = "packageName=monitoring,serializationLibrary=jackson"
PHP_OPTIONS = "invokerPackage=Monitoring"
PYTHON_OPTIONS = "packageName=monitoring_api"
RUST_OPTIONS = "packageName=monitoring"
SWIFT_OPTIONS = "projectName=Monitoring"

DEBIAN_JARS = ("jakarta-annotation-api", "httpmime", "httpclient", "httpcore", "commons-logging")


def openapi_python_client(folder: Path) -> None:
    copy(folder, SDKS / "journeys" / "journey.py", EXAMPLES / "python" / "monitors.py")
    write_recipe("Python", "openapi_python_client.py.template", folder / "pages.py")
    run(
        folder,
        PYTHON / "openapi-python-client",
        *("generate", "--path", DOCUMENT, "--meta", "none", "--output-path", "monitoring_client"),
    )
    # Generated casts are redundant.
    _mypy(folder, "--no-warn-redundant-casts", "journey.py", "monitors.py", "pages.py")


def datamodel_code_generator(folder: Path) -> None:
    write_recipe("Python: pydantic models", "pydantic.py.template", folder / "pages.py")
    run(
        folder,
        PYTHON / "datamodel-codegen",
        *("--input", str(DOCUMENT), "--input-file-type", "openapi", "--output", "monitoring.py"),
        *PYDANTIC_OPTIONS.split(),
    )
    _mypy(folder, "--follow-imports=silent", "pages.py")  # a default of an object is written as a dict


def _mypy(folder: Path, *arguments: str) -> None:
    run(
        folder,
        *(str(Path(sys.executable).parent / "mypy"), "--strict", "--config-file", "", "--no-incremental"),
        *("--python-executable", str(PYTHON / "python"), *arguments),
    )


def openapi_typescript(folder: Path) -> None:
    copy(folder, SDKS / "tsconfig.json", EXAMPLES / "typescript" / "monitors.ts")
    copy(folder, SDKS / "journeys" / "openapi_fetch_journey.ts", name="journey.ts")
    write_recipe("TypeScript: types for openapi-fetch", "openapi_fetch.ts", folder / "pages.ts")
    # Without the option, a field with a default would be required in requests too (docs/decisions/0031).
    options = ("--default-non-nullable=false", "-o", "monitoring.ts")
    run(folder, PACKAGES / "openapi-typescript", DOCUMENT, *options)
    run(folder, PACKAGES / "tsc")


def hey_api(folder: Path) -> None:
    copy(folder, SDKS / "tsconfig.json")
    copy(folder, SDKS / "journeys" / "hey_api_journey.ts", name="journey.ts")
    write_recipe("TypeScript: hey-api", "hey_api.ts", folder / "pages.ts")
    run(folder, PACKAGES / "openapi-ts", "-i", DOCUMENT, "-o", "monitoring", "--no-log-file")
    run(folder, PACKAGES / "tsc")


def orval(folder: Path) -> None:
    copy(folder, SDKS / "tsconfig.json")
    write_recipe("TypeScript: orval", "orval.ts", folder / "pages.ts")
    copy(folder, DOCUMENT)
    (folder / "orval.config.mjs").write_text(read_code("TypeScript: orval", "javascript"))
    run(folder, PACKAGES / "orval")
    run(folder, PACKAGES / "tsc")


def oazapfts(folder: Path) -> None:
    copy(folder, SDKS / "tsconfig.json")
    write_recipe("TypeScript: oazapfts", "oazapfts.ts", folder / "pages.ts")
    run(folder, PACKAGES / "oazapfts", DOCUMENT, "monitoring.ts")
    run(folder, PACKAGES / "tsc")


def java(folder: Path) -> None:
    copy(folder, SDKS / "journeys" / "Journey.java", EXAMPLES / "java" / "Monitors.java")
    write_recipe("Java", "Pages.java", folder / "Pages.java")
    _openapi_generator(folder, "java", "--library", "native", f"--additional-properties={JAVA_OPTIONS}")
    sources = [path.relative_to(folder) for path in (folder / "monitoring" / "src" / "main").rglob("*.java")]
    options = ("-nowarn", "-cp", _java_libraries(), "-d", "classes")
    run(folder, "javac", *options, "Journey.java", "Monitors.java", "Pages.java", *sources)


def go(folder: Path) -> None:
    copy(folder, SDKS / "go.mod")
    copy(folder / "journey", SDKS / "journeys" / "journey.go")
    copy(folder / "example", EXAMPLES / "go" / "monitors.go")
    write_recipe("Go", "pages.go", folder / "pages" / "pages.go")
    _openapi_generator(folder, "go", f"--additional-properties={GO_OPTIONS}")
    shutil.rmtree(folder / "monitoring" / "test")  # empty tests that need a module we do not have
    run(folder, "go", "vet", "./...")
    run(folder, "go", "build", "-o", "bin/", "./journey", "./example", "./pages")


def ruby(folder: Path) -> None:
    copy(folder, SDKS / "journeys" / "journey.rb", EXAMPLES / "ruby" / "monitors.rb")
    write_recipe("Ruby", "pages.rb", folder / "pages.rb")
    _openapi_generator(folder, "ruby", "--library", "faraday", f"--additional-properties={RUBY_OPTIONS}")
    for program in ("journey.rb", "monitors.rb", "pages.rb"):
        run(folder, "ruby", "-W:all", "-c", program)
    run(folder, "ruby", "-I", "monitoring/lib", "-e", "require 'monitoring'")


def php(folder: Path) -> None:
    write_recipe("PHP", "pages.php", folder / "pages.php")
    _openapi_generator(folder, "php", f"--additional-properties={PHP_OPTIONS}")
    for source in (folder / "pages.php", *(folder / "monitoring" / "lib").rglob("*.php")):
        run(folder, "php", "-l", source)


def python_of_openapi_generator(folder: Path) -> None:
    """Generate from OpenAPI 3.0: of the webhooks in 3.1 this generator makes a module that is no Python.

    It logs an ERROR for each type that is only known as "anything", and makes the right one.
    """
    write_recipe("Python: openapi-generator", "openapi_generator.py.template", folder / "pages.py")
    options = ("-o", ".", f"--additional-properties={PYTHON_OPTIONS}")
    run(folder, PYTHON / "openapi-generator-cli", "generate", "-g", "python", "-i", DERIVED, *options)
    modules = "pkgutil.walk_packages(sdk.__path__, 'monitoring_api.')"
    import_all = f"[importlib.import_module(module.name) for module in {modules}]"
    run(folder, PYTHON / "python", "-c", f"import importlib, pkgutil, monitoring_api as sdk; {import_all}")


def csharp(folder: Path) -> None:
    _openapi_generator(folder, "csharp", f"--additional-properties={CSHARP_OPTIONS}")


def rust(folder: Path) -> None:
    shutil.copytree(SDKS / "stand-ins", folder, dirs_exist_ok=True)
    write_recipe("Rust", "pages.rs", folder / "pages.rs")
    _openapi_generator(folder, "rust", f"--additional-properties={RUST_OPTIONS}")
    run(
        folder,
        "cargo",
        "build",
        "--quiet",
        "--offline",
        "--example",
        "pages",
        "--target-dir",
        BUILD / "cargo",
    )


def kotlin(folder: Path) -> None:
    _openapi_generator(folder, "kotlin", f"--additional-properties={KOTLIN_OPTIONS}")
    libraries = BUILD / "node_modules" / "kotlin-compiler" / "lib"
    compiler = ("java", "-cp", f"{libraries}/*", "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler", "-nowarn")
    paths = (
        "-no-stdlib",
        "-no-reflect",
        "-cp",
        f"{libraries / 'kotlin-stdlib.jar'}{os.pathsep}{_java_libraries()}",
    )
    run(folder, *compiler, *paths, "-d", "classes", "monitoring/src/main/kotlin/monitoring/models")


def swift(folder: Path) -> None:
    _openapi_generator(folder, "swift6", f"--additional-properties={SWIFT_OPTIONS}")


def _openapi_generator(folder: Path, language: str, *options: str) -> None:
    """Generate, and take a line of ERROR for a failure: the generator goes on after one."""
    command = PYTHON / "openapi-generator-cli"
    printed = run(folder, command, "generate", "-g", language, "-i", DOCUMENT, "-o", "monitoring", *options)
    if " ERROR " in printed:
        raise BuildError(printed)


def _java_libraries() -> str:
    """List the jars. Jackson is taken from the generator's own jar."""
    generator = next((BUILD / "venv").glob("lib/*/site-packages/openapi_generator_cli/openapi-generator.jar"))
    return os.pathsep.join([str(generator), *(f"/usr/share/java/{name}.jar" for name in DEBIAN_JARS)])


def all_sdks() -> list[Sdk]:
    """Return the SDKs, the slowest first."""
    java_command = ("java", "-cp", f"classes{os.pathsep}{_java_libraries()}")
    ruby_command = ("ruby", "-I", "monitoring/lib")
    python = str(PYTHON / "python")
    pages, node = ("node", "compiled/pages.js"), ("node", "compiled/journey.js")
    generator = "openapi-generator-cli"
    strict = "compiled with tsc --strict"
    return [
        Sdk(
            "rust",
            generator,
            rust,
            "compiled with Debian's crates and a stand-in for one",
            (str(BUILD / "cargo/debug/examples/pages"),),
        ),
        Sdk("kotlin", generator, kotlin, "its models compiled with kotlinc", None),
        Sdk(
            "java",
            generator,
            java,
            "compiled with javac",
            (*java_command, "Pages"),
            (*java_command, "Journey"),
            (*java_command, "Monitors"),
        ),
        Sdk("go", generator, go, "compiled and vetted", ("bin/pages",), ("bin/journey",), ("bin/example",)),
        Sdk(
            "python",
            "openapi-python-client",
            openapi_python_client,
            "checked with mypy --strict",
            (python, "pages.py"),
            (python, "journey.py"),
            (python, "monitors.py"),
        ),
        Sdk(
            "openapi-fetch",
            "openapi-typescript",
            openapi_typescript,
            strict,
            pages,
            node,
            ("node", "compiled/monitors.js"),
        ),
        Sdk("hey-api", "@hey-api/openapi-ts", hey_api, strict, pages, node),
        Sdk("orval", "orval", orval, strict, pages),
        Sdk("oazapfts", "oazapfts", oazapfts, strict, pages),
        Sdk(
            "pydantic",
            "datamodel-code-generator",
            datamodel_code_generator,
            "checked with mypy --strict",
            (python, "pages.py"),
        ),
        Sdk(
            "ruby",
            generator,
            ruby,
            "loaded by Ruby",
            (*ruby_command, "pages.rb"),
            (*ruby_command, "journey.rb"),
            (*ruby_command, "monitors.rb"),
        ),
        Sdk(
            "python3.0",
            generator,
            python_of_openapi_generator,
            "each of its modules imported",
            (python, "pages.py"),
        ),
        Sdk("csharp", generator, csharp, "not compiled", None),
        Sdk("php", generator, php, "parsed by PHP", ("php", "pages.php")),
        Sdk("swift", generator, swift, "not compiled", None),
    ]
