"""The pytest names of the tests that are expected to detect planted faults ("lies")."""

from __future__ import annotations

from promises import OPERATIONS

CATCHER = "caught by"  # a property name in test reports

SENTENCES = "contract-tests/test_every_sentence.py"
SAYS = f"{SENTENCES}::test_the_service_says_it_as_written"
JOURNEYS = "contract-tests/test_journeys.py"
INCIDENTS = "contract-tests/test_journeys_of_incidents.py"
TOKENS = "contract-tests/test_journeys_of_tokens.py"
LISTS = "contract-tests/test_lists.py"
PUBLISHED = "contract-tests/test_published_document.py"
EXAMPLES = "contract-tests/test_examples.py"
TEST_DOCUMENT = "contract-tests/test_document.py"
FUZZING = "contract-tests/test_fuzzing.py::test_the_service_keeps_every_promise_of_the_document[full key]"
INTERFACE = "tests/test_published_interface.py"
DELIVER = next(name for name, each in OPERATIONS.items() if each.path == "/api/webhooks/publisher")
