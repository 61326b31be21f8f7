"""Lies in the code: it does not do what the document says."""

from __future__ import annotations

from catchers import DELIVER, JOURNEYS, PUBLISHED, SAYS
from planting import Edit, Lie

SRC = "src/monitoring"

IN_THE_CODE = [
    Lie(
        "A key may do what its scopes do not say",
        (
            Edit(
                f"{SRC}/auth/security.py",
                "if scope and scope not in caller.scopes:",
                "if scope and not caller.scopes:",
            ),
        ),
        f"{SAYS}[delete_monitor-insufficient_permissions]",
        "204 is not 403",
    ),
    Lie(
        "A revoked key's token goes on working",
        (
            Edit(
                f"{SRC}/auth/service.py",
                "get_or_none(client_id=client_id, revoked_at=None)",
                "get_or_none(client_id=client_id)",
            ),
        ),
        f"{SAYS}[list_monitors-api_key_invalid]",
        "200 is not 401",
    ),
    Lie(
        "Any secret gets a token",
        (
            Edit(
                f"{SRC}/auth/service.py",
                "if key and is_right and key.revoked_at",
                "if key and key.revoked_at",
            ),
        ),
        f"{SAYS}[issue_token-oauth_invalid_client]",
        "200 is not 401",
    ),
    Lie(
        "The webhook takes any secret",
        (Edit(f"{SRC}/auth/security.py", "for secret in accepted) == 0:", "for secret in accepted) < 0:"),),
        f"{SAYS}[get_article-webhook_secret_invalid]",
        "404 is not 401",
    ),
    Lie(
        "Another team's monitor can be read",
        (
            Edit(
                f"{SRC}/monitors/service.py",
                "await Monitor.get_or_none(id=monitor_id, team_id=team_id)",
                "await Monitor.get_or_none(id=monitor_id)",
            ),
        ),
        f"{JOURNEYS}::TestMonitor::test_is_not_there_for_another_team",
        "{200, 202, 404}",
    ),
    Lie(
        "Unknown query parameters are accepted",
        (Edit(f"{SRC}/contract/parameters.py", "closed=not lenient", "closed=False"),),
        f"{SAYS}[list_monitors-invalid_field]",
        "200 is not 400",
    ),
    Lie(
        "A field has another name",
        (Edit(f"{SRC}/monitors/representations.py", '"created_at":', '"created":'),),
        f"{JOURNEYS}::TestMonitor::test_lives_from_a_token_to_its_end",
        "500",
    ),
    Lie(
        "A field has another type, and answers are not validated",
        (
            Edit(f"{SRC}/contract/endpoint.py", "self._responses.check(reply, reply_headers(scope))", "pass"),
            Edit(
                f"{SRC}/monitors/representations.py",
                '"last_error": watch.last_error',
                '"last_error": False',
            ),
        ),
        f"{JOURNEYS}::TestMonitor::test_lives_from_a_token_to_its_end",
        "False is not of type",
    ),
    Lie(
        "A field is missing, and answers are not validated",
        (
            Edit(f"{SRC}/contract/endpoint.py", "self._responses.check(reply, reply_headers(scope))", "pass"),
            Edit(f"{SRC}/articles/representations.py", '        "attempts": translation.attempts,\n', ""),
        ),
        f"{JOURNEYS}::TestArticle::test_is_translated_and_translated_again_when_it_changes",
        "'attempts' is a required property",
    ),
    Lie(
        "A header is missing, and answers are not validated",
        (
            Edit(f"{SRC}/contract/endpoint.py", "self._responses.check(reply, reply_headers(scope))", "pass"),
            Edit(
                f"{SRC}/monitors/handlers.py", '{"ETag": entity_tag(monitor.version), **headers}', "headers"
            ),
        ),
        f"{JOURNEYS}::TestMonitor::test_lives_from_a_token_to_its_end",
        "headers are missing: {'etag'}",
    ),
    Lie(
        "Creating answers 200",
        (Edit(f"{SRC}/monitors/handlers.py", "_reply(monitor, 201,", "_reply(monitor, 200,"),),
        f"{JOURNEYS}::TestMonitor::test_lives_from_a_token_to_its_end",
        "500",
    ),
    Lie(
        "Location leads elsewhere",
        (Edit(f"{SRC}/monitors/handlers.py", 'f"/api/monitors/{monitor.id}"', 'f"/monitors/{monitor.id}"'),),
        f"{JOURNEYS}::TestLinks::test_location_is_where_the_link_to_read_it_leads[create_monitor]",
        "AssertionError: assert '/monitors/",
    ),
    Lie(
        "A 404 says another operation's sentence",
        (
            Edit(
                f"{SRC}/articles/handlers.py", 'Problem("article_not_found")', 'Problem("monitor_not_found")'
            ),
        ),
        f"{SAYS}[get_article-article_not_found]",
        "'Monitor not found' does not match '^Article not found$'",
    ),
    Lie(
        "Errors have another media type",
        (
            Edit(
                f"{SRC}/contract/catalogue.py",
                "**(headers or {})})",
                '**(headers or {})}, media_type="application/problem+json")',
            ),
        ),
        f"{SAYS}[-not_found]",
        "media type application/problem+json is not documented",
    ),
    Lie(
        "Bodies end with a line feed",
        (
            Edit(
                f"{SRC}/contract/replies.py",
                "return orjson.dumps(self.body)",
                "return orjson.dumps(self.body, option=orjson.OPT_APPEND_NEWLINE)",
            ),
        ),
        f"{SAYS}[-not_found]",
        "\\n' is not",
    ),
    Lie(
        "Errors lack the headers that go with them, Retry-After among them",
        (
            Edit(
                f"{SRC}/contract/catalogue.py",
                '{**fixed_headers, **example.get("x-headers", {})}',
                "fixed_headers",
            ),
        ),
        f"{SAYS}[{DELIVER}-service_unavailable]",
        "headers are missing: {'retry-after'}",
    ),
    Lie(
        "A header is sent twice",
        (
            Edit(
                f"{SRC}/contract/middleware.py",
                '[*message.get("headers", ()), *added]',
                '[*message.get("headers", ()), *added, *added]',
            ),
        ),
        f"{SAYS}[-not_found]",
        "a header is sent twice",
    ),
    Lie(
        "429 says another time than it means",
        (
            Edit(
                f"{SRC}/auth/limits.py",
                "retry_after_seconds=allowance.reset_seconds",
                "retry_after_seconds=60",
            ),
        ),
        f"{SAYS}[list_monitors-rate_limited]",
        "60 seconds are left",
    ),
    Lie(
        "What breaks on our side is told as 503",
        (Edit(f"{SRC}/contract/endpoint.py", 'Problem("internal_error")', 'Problem("service_unavailable")'),),
        f"{JOURNEYS}::TestMonitor::test_that_the_document_has_no_words_for_is_an_error_of_ours",
        "assert 503 == 500",
    ),
    Lie(
        "HEAD is forgotten in Allow",
        (Edit(f"{SRC}/contract/document.py", '({"head"} if "get" in methods else set())', "set()"),),
        f"{PUBLISHED}::TestMethods::test_every_other_method_is_told_all_known_ones",
        "assert 'GET' == 'GET, HEAD'",
    ),
    Lie(
        "Allow is incomplete",
        (Edit(f"{SRC}/contract/problems.py", '", ".join(allowed)', '", ".join(allowed[1:])'),),
        f"{SAYS}[-method_not_allowed]",
        "{'allow': 'HEAD, POST'} is not",
    ),
    Lie(
        "A body of any media type is read as JSON",
        (
            Edit(
                f"{SRC}/contract/bodies.py",
                "        return self._readers[media_type]",
                "        return next(iter(self._readers.values()))",
            ),
            Edit(f"{SRC}/contract/bodies.py", "if media_type not in self._readers or charset", "if charset"),
        ),
        f"{SAYS}[create_monitor-unsupported_media_type]",
        "201 is not 415",
    ),
    Lie(
        "If-Match is not looked at",
        (Edit(f"{SRC}/monitors/service.py", "if not is_current(if_match, monitor.version):", "if False:"),),
        f"{SAYS}[update_monitor-monitor_changed]",
        "200 is not 412",
    ),
    Lie(
        "A repeated Idempotency-Key acts again",
        (Edit(f"{SRC}/idempotency/service.py", "    if key is None:", "    if True:"),),
        f"{JOURNEYS}::TestMonitor::test_is_created_once_whatever_is_repeated",
        "AssertionError",
    ),
    Lie(
        "The plan allows one more",
        (Edit(f"{SRC}/monitors/service.py", "monitors_count < max", "monitors_count <= max"),),
        f"{SAYS}[create_monitor-monitor_limit_reached]",
        "201 is not 403",
    ),
    Lie(
        "A page begins with what the last one ended with",
        (Edit(f"{SRC}/monitors/reading.py", "found[limit - 1]", "found[0]"),),
        f"{JOURNEYS}::TestMonitor::test_is_met_once_by_whoever_turns_the_pages",
        "AssertionError",
    ),
    Lie(
        "A filter filters nothing",
        (
            Edit(
                f"{SRC}/monitors/reading.py",
                '"monitors.paused = {}": wanted.paused',
                '"monitors.paused = {}": None',
            ),
        ),
        f"{JOURNEYS}::TestMonitor::test_is_found_by_what_a_filter_says_and_by_nothing_else",
        "AssertionError",
    ),
    Lie(
        "What is deleted is still there",
        (Edit(f"{SRC}/monitors/service.py", "        await monitor.delete()\n", ""),),
        f"{JOURNEYS}::TestMonitor::test_lives_from_a_token_to_its_end",
        "404",
    ),
    Lie(
        "The webhook answers with an id that nobody has",
        (
            Edit(
                f"{SRC}/articles/handlers.py",
                "article_id = str(receipt.article.id)",
                "article_id = str(UUID(int=receipt.article.id.int ^ 1))",
            ),
            Edit(
                f"{SRC}/articles/representations.py",
                '{"article_id": str(article.id), "status": "accepted"',
                '{"article_id": str(article.id)[:-1] + "0", "status": "accepted"',
            ),
        ),
        f"{JOURNEYS}::TestLinks::test_location_is_where_the_link_to_read_it_leads",
        "AssertionError",
    ),
    Lie(
        "What is queued is called translated",
        (
            Edit(
                f"{SRC}/articles/representations.py", '"status": translation.status', '"status": "translated"'
            ),
        ),
        f"{JOURNEYS}::TestArticle::test_is_translated_and_translated_again_when_it_changes",
        "AssertionError",
    ),
    Lie(
        "The served document is not quite the published one",
        (
            Edit(
                f"{SRC}/contract/handlers.py",
                "request.app.document.yaml_bytes,",
                "request.app.document.yaml_bytes.strip(),",
            ),
        ),
        f"{PUBLISHED}::TestServedDocument::test_it_is_this_one_byte_for_byte",
        "AssertionError",
    ),
]
