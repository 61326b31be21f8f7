"""Planted faults in the OpenAPI document. The service uses the faulty document, or it is only published."""

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
from places import GONE, pointer_to
from planting import Change, Lie, renamed, worded
from promises import OPERATIONS

SCHEMAS = "/components/schemas"
LAST_PAGE = ("responses", "200", "content", "application/json", "examples", "last_page", "value")


def of(operation_id: str, *steps: str) -> str:
    """Return the JSON pointer to a node of an operation."""
    operation = OPERATIONS[operation_id]
    return pointer_to("paths", operation.path, operation.method, *steps)


IN_THE_DOCUMENT = [
    Lie(
        "An operation is open that was not",
        (Change(of("get_article", "security"), []),),
        f"{PUBLISHED}::TestWhoMayCall::test_only_these_operations_are_open_to_all",
    ),
    Lie(
        "A key that may only read can delete",
        (Change(of("delete_monitor", "x-required-scope"), "monitors:read"),),
        f"{PUBLISHED}::TestWhoMayCall::test_whoever_may_only_read_can_change_nothing",
    ),
    Lie(
        "A status is not documented",
        (Change(of("update_monitor", "responses", "412"), GONE),),
        f"{PUBLISHED}::TestStatuses::test_what_an_operation_takes_decides_what_it_may_answer",
    ),
    Lie(
        "A header is not documented",
        (Change(of("create_monitor", "responses", "201", "headers", "Location"), GONE),),
        f"{JOURNEYS}::TestMonitor::test_lives_from_a_token_to_its_end",
    ),
    Lie(
        "An operationId is given twice",
        (Change(of("get_readiness", "operationId"), "get_health"),),
        f"{TEST_DOCUMENT}",
    ),
    Lie(
        "A link fills in a parameter that its target has not",
        (Change("/components/links/GetMonitor/parameters", renamed("monitor_id", "id")),),
        f"{JOURNEYS}::TestLinks::test_a_link_leads_to_the_same_thing",
    ),
    Lie(
        "A link takes the id from where it is not",
        (Change("/components/links/GetArticle/parameters/article_id", "$response.body#/id"),),
        f"{JOURNEYS}::TestArticle::test_is_translated_and_translated_again_when_it_changes",
    ),
    Lie(
        "A link takes the id of one thing for that of another",
        (
            Change(
                "/components/links/RedeliverNotification/parameters/delivery_id", "$request.path.channel_id"
            ),
        ),
        f"{JOURNEYS}::TestLinks::test_a_link_leads_to_the_same_thing",
    ),
    Lie(
        "A key that may only read can have notifications sent",
        (Change(of("redeliver_notification", "x-required-scope"), "monitors:read"),),
        f"{PUBLISHED}::TestWhoMayCall::test_whoever_may_only_read_can_change_nothing",
    ),
    Lie(
        "An example of an answer breaks its own schema",
        (Change(of("list_monitors", *LAST_PAGE, "monitors", "0", "interval_seconds"), 10),),
        f"{EXAMPLES}::test_every_example_is_what_its_schema_allows",
    ),
    Lie(
        "An error example breaks its own schema",
        (
            Change(
                "/components/responses/MonitorChanged/content/application~1json/examples/monitor_changed/value/error",
                "The monitor has changed",
            ),
        ),
        f"{TEST_DOCUMENT}::TestErrors::test_every_error_example_is_what_its_schema_allows",
    ),
    Lie(
        "A published sentence is worded anew, in example and pattern alike",
        (
            Change("/components/examples/api_key_invalid/value/error", "Revoked API key"),
            *(
                Change(f"{SCHEMAS}/{place}/pattern", worded("Invalid API key", "Revoked API key"))
                for place in (
                    "UnauthorizedError/properties/error",
                    "WebhookUnauthorizedError/properties/error",
                    "PublisherUnauthorizedError/properties/error/else",
                )
            ),
        ),
        f"{INTERFACE}::TestMessages::test_invalid_api_key_401_the_key_that_generated_the_token_was_revoked",
    ),
    Lie(
        "A field of an answer has another name",
        (
            Change(f"{SCHEMAS}/Article/required", renamed("revision", "version")),
            Change(f"{SCHEMAS}/Article/properties", renamed("revision", "version")),
        ),
        f"{JOURNEYS}::TestArticle::test_is_translated_and_translated_again_when_it_changes",
    ),
]

IN_WHAT_IS_PUBLISHED = [
    Lie(
        "A sentence is not the one that is said",
        (
            Change(
                "/components/responses/MonitorNotFound/content/application~1json/examples/monitor_not_found/value/error",
                "No such monitor",
            ),
            Change(f"{SCHEMAS}/MonitorNotFoundError/properties/error/pattern", "^No such monitor$"),
        ),
        f"{SAYS}[get_monitor-monitor_not_found]",
        only_published=True,
    ),
    Lie(
        "A field is promised that no answer has",
        (
            Change(f"{SCHEMAS}/Monitor/required", renamed("last_error", "last_failure")),
            Change(f"{SCHEMAS}/Monitor/properties", renamed("last_error", "last_failure")),
        ),
        f"{JOURNEYS}::TestMonitor::test_lives_from_a_token_to_its_end",
        only_published=True,
    ),
    Lie(
        "An enum lacks a value",
        (Change(f"{SCHEMAS}/TranslationStatus/enum", ["queued", "translating", "failed"]),),
        f"{JOURNEYS}::TestArticle::test_is_translated_and_translated_again_when_it_changes",
        only_published=True,
    ),
    Lie(
        "What a check can find lacks a value",
        (Change(f"{SCHEMAS}/CheckOutcome/enum", ["up", "degraded", "unknown"]),),
        f"{INCIDENTS}::TestWatchedServer::test_breaks_and_heals_and_all_of_it_is_told",
        only_published=True,
    ),
    Lie(
        "Notifications have no field that says what happened when",
        (Change(f"{SCHEMAS}/Notification/required", renamed("timestamp", "happened_at")),),
        f"{INCIDENTS}::TestNotificationChannel::test_lives_until_it_is_deleted",
        only_published=True,
    ),
    Lie(
        "A header that is sent is not documented",
        (Change("/components/responses/WebhookUnavailable/headers/Retry-After", GONE),),
        f"{SAYS}[{DELIVER}-service_unavailable]",
        only_published=True,
    ),
    Lie(
        "A media type is another",
        (
            Change(
                of("get_document_yaml", "responses", "200", "content"),
                renamed("application/yaml", "text/yaml"),
            ),
        ),
        f"{PUBLISHED}::TestMethods::test_head_is_get_without_its_body[get_document_yaml]",
        only_published=True,
    ),
    Lie(
        "A bound is wider than the service's",
        (Change(f"{SCHEMAS}/MonitorCreate/properties/interval_seconds/minimum", 20),),
        FUZZING,
        only_published=True,
    ),
    Lie(
        "A field is optional that the service demands",
        (Change(f"{SCHEMAS}/MonitorCreate/else/required", GONE),),
        FUZZING,
        only_published=True,
    ),
    Lie(
        "A field may be sent that the service refuses",
        (
            Change(
                f"{SCHEMAS}/MonitorCreate/properties",
                lambda fields: {**fields, "retries": {"type": "integer", "minimum": 0, "maximum": 9}},
            ),
        ),
        FUZZING,
        only_published=True,
    ),
    Lie(
        "A query parameter may be sent that the service refuses",
        (
            Change(
                of("list_monitors", "parameters"),
                lambda known: [
                    *known,
                    {"name": "sort", "in": "query", "schema": {"type": "string", "maxLength": 9}},
                ],
            ),
        ),
        FUZZING,
        only_published=True,
    ),
    Lie(
        "Another document is published than the one that is served",
        (Change("/servers/0/description", "A service."),),
        f"{PUBLISHED}::TestServedDocument::test_it_is_this_one_without_our_notes",
        only_published=True,
    ),
]
