"""Requests of the bakery's customers, and how refusals are read."""

from raw_http import Answer

ALICE = "Authorization: Bearer alice"
JSON = "Content-Type: application/json"
FORM = "Content-Type: application/x-www-form-urlencoded"


def refusal(answer: Answer) -> tuple[int, str]:
    """Return status and sentence of an answer, which must be an error of the document."""
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-request-id"]
    return answer.status, answer.json["error"]
