from __future__ import annotations

from monitoring.articles.translation.engines.http_errors import judge_status


class TestReason:
    def test_has_what_the_server_says_in_one_short_line(self) -> None:
        error = judge_status("DeepL", 400, {}, message=f"Bad\n  request {'x' * 1000}")
        assert str(error).startswith("DeepL refused the request (400): Bad request xxx")
        assert len(str(error)) < 250
