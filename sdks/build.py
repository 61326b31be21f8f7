"""Generate the SDKs from the document as it is published and compile them, two at a time."""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor

from building import DERIVED, DOCUMENT, BuildError, Sdk
from generators import all_sdks
from monitoring.contract.document import load_document


def main() -> None:
    """Build all SDKs, or the named ones. Fails only at the end, with the output of the tools that failed."""
    document = load_document()
    DOCUMENT.write_bytes(document.published_yaml)
    DERIVED.write_bytes(document.published_openapi_30)
    chosen = [sdk for sdk in all_sdks() if not sys.argv[1:] or sdk.name in sys.argv[1:]]
    with ThreadPoolExecutor(max_workers=2) as pool:
        failures = [failure for failure in pool.map(_build, chosen) if failure]
    if failures:
        sys.exit("\n".join(failures))


def _build(sdk: Sdk) -> str:
    started = time.monotonic()
    try:
        sdk.rebuild()
    except BuildError as error:
        return f"{sdk.name}: {error}"
    print(f"{sdk.name}: generated, {sdk.checked}, in {time.monotonic() - started:.0f} seconds", flush=True)
    return ""


if __name__ == "__main__":
    main()
