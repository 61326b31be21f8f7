"""Lies in the document: those that the service believes as well, and those that are published only."""

from __future__ import annotations

from catchers import (
    DELIVER,
    EXAMPLES,
    FUZZING,
    INCIDENTS,
    INTERFACE,
    JOURNEYS,
    PUBLISHED,
    SAYS,
    TEST_DOCUMENT,
)
from planting import DOCUMENT, Edit, Lie


def in_document(old: str, new: str, after: str = "") -> Edit:
    return Edit(DOCUMENT, old, new, after)


IN_THE_DOCUMENT = [
    Lie(
        "An operation is open that was not",
        (in_document("security: [{webhookSecret: []}]", "security: []", "operationId: get_article"),),
        f"{PUBLISHED}::TestWhoMayCall::test_only_these_operations_are_open_to_all",
        "get_article",
    ),
    Lie(
        "A key that may only read can delete",
        (
            in_document(
                "x-required-scope: monitors:write",
                "x-required-scope: monitors:read",
                "operationId: delete_monitor",
            ),
        ),
        f"{PUBLISHED}::TestWhoMayCall::test_whoever_may_only_read_can_change_nothing",
        "delete_monitor",
    ),
    Lie(
        "A status is not documented",
        (
            in_document(
                "        '412': {$ref: '#/components/responses/MonitorChanged'}\n",
                "",
                "operationId: update_monitor",
            ),
        ),
        f"{PUBLISHED}::TestStatuses::test_what_an_operation_takes_decides_what_it_may_answer",
        "update_monitor: {'412'}",
    ),
    Lie(
        "A header is not documented",
        (
            in_document(
                "            Location: {$ref: '#/components/headers/Location'}\n",
                "",
                "operationId: create_monitor",
            ),
        ),
        f"{JOURNEYS}::TestMonitor::test_lives_from_a_token_to_its_end",
        "headers are not documented: {'location'}",
    ),
    Lie(
        "An operationId is given twice",
        (in_document("operationId: get_readiness", "operationId: get_health"),),
        f"{TEST_DOCUMENT}",
        "operationId get_health is given twice",
    ),
    Lie(
        "A link fills in a parameter that its target has not",
        (in_document("parameters: {monitor_id: ", "parameters: {id: ", "  links:\n    GetMonitor:"),),
        f"{JOURNEYS}::TestLinks::test_a_link_leads_to_the_same_thing",
        "get_monitor has no id",
    ),
    Lie(
        "A link takes the id from where it is not",
        (in_document("'$response.body#/article_id'", "'$response.body#/id'", "    GetArticle:"),),
        f"{JOURNEYS}::TestArticle::test_is_translated_and_translated_again_when_it_changes",
        "KeyError: 'id'",
    ),
    Lie(
        "A link takes the id of one thing for that of another",
        (
            in_document(
                "delivery_id: '$response.body#/id'",
                "delivery_id: '$request.path.webhook_id'",
                "    RedeliverNotification:",
            ),
        ),
        f"{JOURNEYS}::TestLinks::test_a_link_leads_to_the_same_thing",
        "assert 404 == 202",
    ),
    Lie(
        "A key that may only read can have notifications sent",
        (
            in_document(
                "x-required-scope: monitors:write",
                "x-required-scope: monitors:read",
                "operationId: redeliver_notification",
            ),
        ),
        f"{PUBLISHED}::TestWhoMayCall::test_whoever_may_only_read_can_change_nothing",
        "redeliver_notification",
    ),
    Lie(
        "An example of an answer breaks its own schema",
        (in_document("interval_seconds: 60", "interval_seconds: 10", "last_page:"),),
        f"{EXAMPLES}::test_an_example_is_what_its_schema_allows",
        "examples/last_page",
    ),
    Lie(
        "An error example breaks its own schema",
        (in_document("error: Monitor has changed}", "error: The monitor has changed}"),),
        f"{TEST_DOCUMENT}::TestErrors::test_an_error_example_is_what_its_schema_allows",
        "monitor_changed",
    ),
    Lie(
        "A published sentence is worded anew, in example and pattern alike",
        (
            in_document("value: {error: Invalid API key}", "value: {error: Revoked API key}"),
            in_document("|Invalid API key)", "|Revoked API key)", "    UnauthorizedError:"),
            in_document("|Invalid API key)", "|Revoked API key)", "    WebhookUnauthorizedError:"),
        ),
        f"{INTERFACE}::TestMessages::test_invalid_api_key_401_the_key_that_generated_the_token_was_revoked",
        "Revoked API key",
    ),
    Lie(
        "A field of an answer has another name",
        (
            in_document("title, revision, received_at", "title, version, received_at", "    Article:\n"),
            in_document("        revision: {", "        version: {", "    Article:\n"),
        ),
        f"{JOURNEYS}::TestArticle::test_is_translated_and_translated_again_when_it_changes",
        '500 b\'{"error":"Internal server error"}\'',
    ),
]

IN_WHAT_IS_PUBLISHED = [
    Lie(
        "A sentence is not the one that is said",
        (
            in_document("error: Monitor not found}", "error: No such monitor}"),
            in_document("'^Monitor not found$'", "'^No such monitor$'"),
        ),
        f"{SAYS}[get_monitor-monitor_not_found]",
        "'Monitor not found' does not match '^No such monitor$'",
        only_published=True,
    ),
    Lie(
        "A field is promised that no answer has",
        (
            in_document("last_response_time_ms, last_error,", "last_response_time_ms, last_failure,"),
            in_document("        last_error:\n", "        last_failure:\n"),
        ),
        f"{JOURNEYS}::TestMonitor::test_lives_from_a_token_to_its_end",
        "last_error",
        only_published=True,
    ),
    Lie(
        "An enum lacks a value",
        (
            in_document(
                "enum: [queued, translating, translated, failed]", "enum: [queued, translating, failed]"
            ),
        ),
        f"{JOURNEYS}::TestArticle::test_is_translated_and_translated_again_when_it_changes",
        "'translated' is not one of ['queued', 'translating', 'failed']",
        only_published=True,
    ),
    Lie(
        "What a check can find lacks a value",
        (
            in_document(
                "enum: [up, degraded, down, unknown]", "enum: [up, degraded, unknown]", "CheckOutcome:"
            ),
        ),
        f"{INCIDENTS}::TestWatchedServer::test_breaks_and_heals_and_all_of_it_is_told",
        "'down' is not one of ['up', 'degraded', 'unknown']",
        only_published=True,
    ),
    Lie(
        "Notifications have no field that says what happened when",
        (in_document("required: [type, timestamp, data]", "required: [type, happened_at, data]"),),
        f"{INCIDENTS}::TestNotificationWebhook::test_lives_until_it_is_deleted",
        "'happened_at' is a required property",
        only_published=True,
    ),
    Lie(
        "A header that is sent is not documented",
        (
            in_document(
                "        Retry-After: {$ref: '#/components/headers/Retry-After'}\n",
                "",
                "&unavailable_headers",
            ),
        ),
        f"{SAYS}[{DELIVER}-service_unavailable]",
        "headers are not documented: {'retry-after'}",
        only_published=True,
    ),
    Lie(
        "A media type is another",
        (in_document("application/yaml:", "text/yaml:", "operationId: get_document_yaml"),),
        f"{PUBLISHED}::TestMethods::test_head_is_get_without_its_body[get_document_yaml]",
        "media type application/yaml is not documented",
        only_published=True,
    ),
    Lie(
        "A bound is wider than the service's",
        (in_document("minimum: 30", "minimum: 20", "    MonitorCreate:"),),
        FUZZING,
        "interval_seconds: must be at least 30",
        only_published=True,
    ),
    Lie(
        "A field is optional that the service demands",
        (in_document("      required: [url]\n", "", "    MonitorCreate:"),),
        FUZZING,
        "url: is required",
        only_published=True,
    ),
    Lie(
        "A field may be sent that the service refuses",
        (
            in_document(
                "        paused: {type: boolean, default: false",
                "        retries: {type: integer, minimum: 0, maximum: 9}\n"
                "        paused: {type: boolean, default: false",
                "    MonitorCreate:",
            ),
        ),
        FUZZING,
        "retries: is not known here",
        only_published=True,
    ),
    Lie(
        "A query parameter may be sent that the service refuses",
        (
            in_document(
                "        - name: search\n",
                "        - name: sort\n          in: query\n          schema: {type: string, maxLength: 9}\n"
                "        - name: search\n",
            ),
        ),
        FUZZING,
        "sort: is not known here",
        only_published=True,
    ),
    Lie(
        "Another document is published than the one that is served",
        (in_document("The service that serves this document.", "A service."),),
        f"{PUBLISHED}::TestServedDocument::test_it_is_this_one_byte_for_byte",
        "test_it_is_this_one_byte_for_byte",
        only_published=True,
    ),
]
