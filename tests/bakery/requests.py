"""What the bakery's customers send, and how a refusal reads."""

from raw_http import Answer

ALICE = "Authorization: Bearer alice"
JSON = "Content-Type: application/json"
FORM = "Content-Type: application/x-www-form-urlencoded"


def refusal(answer: Answer) -> tuple[int, str]:
    """Return status and sentence of an answer that has to be the document's error."""
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-request-id"]
    return answer.status, answer.json["error"]
