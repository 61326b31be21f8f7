"""Planted faults in the code, which make it deviate from the OpenAPI document."""

from __future__ import annotations

from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any
from uuid import UUID

from tortoise.expressions import F

from catchers import DELIVER, JOURNEYS, PUBLISHED, SAYS, TOKENS
from monitoring.auth.models import Team
from monitoring.auth.scopes import SCOPES
from monitoring.auth.service import LivingKey, find_key
from monitoring.auth.tokens import verify_token
from monitoring.backends.current import current_backends
from monitoring.contract.problems import Problem
from monitoring.monitors.models import Monitor
from places import GONE
from planting import Lie
from seams import Seam, always, lying, refusing

if TYPE_CHECKING:
    from collections.abc import Callable

    from monitoring.auth.tokens import TokenClaims
    from monitoring.contract.document import Operation
    from monitoring.web.replies import Reply

UNVALIDATED = Seam("contract.Responses.check", always(answer=None))


def of_any_team(model: Any) -> Callable[[Any], Any]:
    """Plant a lookup that ignores the caller's team, so that it finds resources of any team."""

    def lie_about(truth: Any) -> Any:
        @wraps(truth)
        async def lie(team_id: UUID, thing_id: UUID) -> Any:
            thing = await model.get_or_none(id=thing_id)
            return await truth(thing.team_id if thing else team_id, thing_id)

        return lie

    return lie_about


def with_every_scope(truth: Any) -> Any:
    def lie(caller: Any, *args: Any, **kwargs: Any) -> None:
        truth(caller, *args, **kwargs)
        if caller.scopes:
            object.__setattr__(caller, "scopes", frozenset(SCOPES))

    return lie


def revoked_or_not(truth: Any) -> Any:
    @wraps(truth)
    async def lie(claims: TokenClaims, *_: Any) -> Any:
        key = await find_key(claims.client_id, None)
        return key and LivingKey(key.client_id, key.team_id, frozenset(key.scopes), key.name)

    return lie


def of_any_teams_token(truth: Any) -> Any:
    @wraps(truth)
    async def lie(_: UUID, token: str) -> Any:
        key = await find_key(verify_token(current_backends().settings, token).client_id, None)
        return await truth(key and key.team_id, token)

    return lie


def of_another_issuer(given: Any) -> dict[str, Any]:
    settings = given["settings"]
    return {"settings": settings.model_copy(update={"base_url": f"{settings.base_url}/"})}


def with_lenient_parameters(given: Any) -> dict[str, Operation]:
    operation = given["operation"]
    return {
        "operation": replace(operation, definition={**operation.definition, "x-lenient-parameters": True})
    }


def of_one_media_type(given: Any) -> dict[str, Any]:
    others = [(name, value) for name, value in given["headers"] if name != b"content-type"]
    return {"headers": [*others, (b"content-type", b"application/json")]}


def with_a_header_sent_twice(truth: Any) -> Any:
    @wraps(truth)
    def lie(self: Any, scope: Any, receive: Any, send: Any) -> Any:
        def send_twice(message: Any) -> Any:
            again = [(name, value) for name, value in message.get("headers", ()) if name == b"x-request-id"]
            return send(message | ({"headers": [*message["headers"], *again]} if again else {}))

        return truth(self, scope, receive, send_twice)

    return lie


def with_one_more_than_the_plan(truth: Any) -> Any:
    grown = set()

    @wraps(truth)
    async def lie(team_id: UUID, given: Any) -> Any:
        try:
            return await truth(team_id, given)
        except Problem as refusal:
            if refusal.name != "monitor_limit_reached" or team_id in grown:
                raise
            grown.add(team_id)
            await Team.filter(id=team_id).update(max_monitors=F("max_monitors") + 1)
            return await truth(team_id, given)

    return lie


def without(reply: Reply, name: str) -> Reply:
    return replace(reply, headers={other: value for other, value in reply.headers.items() if other != name})


def under_other_ids(reply: Reply) -> Reply:
    article_id = reply.body["article_id"]
    if article_id is None:
        return reply
    in_body, in_location = (str(UUID(int=UUID(article_id).int ^ bit)) for bit in (1, 2))
    body = {**reply.body, "article_id": in_body}
    return replace(reply, body=body, headers={"Location": f"/api/articles/{in_location}"})


def with_translations(**fields: Any) -> Callable[[Any], Any]:
    """Change fields of an article's translations. The value GONE removes a field."""

    def change(article: Any) -> Any:
        changed = [{**each, **fields} for each in article["translations"]]
        kept = [{name: value for name, value in each.items() if value is not GONE} for each in changed]
        return {**article, "translations": kept}

    return change


IN_THE_CODE = [
    Lie(
        "A key may do what its scopes do not say",
        (Seam("auth.Caller.__init__", with_every_scope),),
        f"{SAYS}[delete_monitor-insufficient_permissions]",
    ),
    Lie(
        "A revoked key's token goes on working",
        (Seam("auth.find_living_key", revoked_or_not),),
        f"{SAYS}[list_monitors-api_key_invalid]",
    ),
    Lie(
        "A revoked token goes on working",
        (Seam("auth.service.revoke_token", always(answer=None)),),
        f"{TOKENS}::TestToken::test_is_refused_once_its_client_revokes_it[RS256]",
    ),
    Lie(
        "Another team is told of a token",
        (Seam("auth.find_active_token", of_any_teams_token),),
        f"{TOKENS}::TestToken::test_is_nothing_to_another_team[RS256]",
    ),
    Lie(
        "Tokens name another issuer than the metadata",
        (Seam("auth.sign_token", lying(asked=of_another_issuer)),),
        f"{TOKENS}::TestToken::test_is_verified_by_whoever_has_read_the_metadata[RS256]",
    ),
    Lie(
        "Any secret gets a token",
        (Seam("auth.is_same_secret", always(answer=True)),),
        f"{SAYS}[issue_token-oauth_invalid_client]",
    ),
    Lie(
        "The webhook takes any secret",
        (Seam("auth.WebhookSecurity.let_in", always(answer=None)),),
        f"{SAYS}[get_article-webhook_secret_invalid]",
    ),
    Lie(
        "Another team's monitor can be read",
        (Seam("monitors.service.get_monitor", of_any_team(Monitor)),),
        f"{JOURNEYS}::TestMonitor::test_is_not_there_for_another_team",
    ),
    Lie(
        "Unknown query parameters are accepted",
        (Seam("contract.Parameters.__init__", lying(asked=with_lenient_parameters)),),
        f"{SAYS}[list_monitors-invalid_field]",
    ),
    Lie(
        "A field has another name",
        (
            Seam(
                "monitors.represent_monitor",
                lying(
                    answered=lambda monitor: {
                        "created" if name == "created_at" else name: value for name, value in monitor.items()
                    }
                ),
            ),
        ),
        f"{JOURNEYS}::TestMonitor::test_lives_from_a_token_to_its_end",
    ),
    Lie(
        "A field has another type, and answers are not validated",
        (
            UNVALIDATED,
            Seam(
                "monitors.represent_monitor", lying(answered=lambda monitor: {**monitor, "last_error": False})
            ),
        ),
        f"{JOURNEYS}::TestMonitor::test_lives_from_a_token_to_its_end",
    ),
    Lie(
        "A field is missing, and answers are not validated",
        (UNVALIDATED, Seam("articles.represent_article", lying(answered=with_translations(attempts=GONE)))),
        f"{JOURNEYS}::TestArticle::test_is_translated_and_translated_again_when_it_changes",
    ),
    Lie(
        "A header is missing, and answers are not validated",
        (
            UNVALIDATED,
            Seam("monitors.handlers.create_monitor", lying(answered=lambda reply: without(reply, "ETag"))),
        ),
        f"{JOURNEYS}::TestMonitor::test_lives_from_a_token_to_its_end",
    ),
    Lie(
        "Creating answers 200",
        (Seam("monitors.handlers.create_monitor", lying(answered=lambda reply: replace(reply, status=200))),),
        f"{JOURNEYS}::TestMonitor::test_lives_from_a_token_to_its_end",
    ),
    Lie(
        "Location leads elsewhere",
        (
            Seam(
                "monitors.handlers.create_monitor",
                lying(
                    answered=lambda reply: replace(
                        reply,
                        headers={
                            **reply.headers,
                            "Location": reply.headers["Location"].removeprefix("/api"),
                        },
                    )
                ),
            ),
        ),
        f"{JOURNEYS}::TestLinks::test_location_is_where_the_link_to_read_it_leads[create_monitor]",
    ),
    Lie(
        "A 404 says another operation's sentence",
        (Seam("articles.handlers.get_article", refusing("article_not_found", Problem("monitor_not_found"))),),
        f"{SAYS}[get_article-article_not_found]",
    ),
    Lie(
        "Errors have another media type",
        (
            Seam(
                "web.ProblemMiddleware._reply_to",
                lying(answered=lambda reply: replace(reply, media_type="application/problem+json")),
            ),
        ),
        f"{SAYS}[-not_found]",
    ),
    Lie(
        "Bodies end with a line feed",
        (Seam("web.Reply.payload", lying(answered=lambda payload: payload and payload + b"\n")),),
        f"{SAYS}[-not_found]",
    ),
    Lie(
        "Errors lack the headers that go with them, Retry-After among them",
        (Seam("contract.Catalogue.respond", lying(answered=lambda reply: replace(reply, headers={}))),),
        f"{SAYS}[{DELIVER}-service_unavailable]",
    ),
    Lie(
        "A header is sent twice",
        (Seam("web.RequestTelemetry.__call__", with_a_header_sent_twice),),
        f"{SAYS}[-not_found]",
    ),
    Lie(
        "429 says another time than it means",
        (
            Seam(
                "contract.Catalogue.respond",
                lying(
                    asked=lambda given: (
                        {"values": {"retry_after_seconds": 60}} if given["name"] == "rate_limited" else {}
                    )
                ),
            ),
        ),
        f"{SAYS}[list_monitors-rate_limited]",
    ),
    Lie(
        "What breaks on our side is told as 503",
        (
            Seam(
                "contract.Catalogue.respond",
                lying(
                    asked=lambda given: (
                        {"name": "service_unavailable"} if given["name"] == "internal_error" else {}
                    )
                ),
            ),
        ),
        f"{JOURNEYS}::TestMonitor::test_that_the_document_has_no_words_for_is_an_error_of_ours",
    ),
    Lie(
        "HEAD is forgotten in Allow",
        (
            Seam(
                "contract.Document.allowed_methods",
                lying(answered=lambda methods: [method for method in methods if method != "HEAD"]),
            ),
        ),
        f"{PUBLISHED}::TestMethods::test_every_other_method_is_told_all_known_ones",
    ),
    Lie(
        "Allow is incomplete",
        (Seam("contract.Document.allowed_methods", lying(answered=lambda methods: methods[1:])),),
        f"{SAYS}[-method_not_allowed]",
    ),
    Lie(
        "A body of any media type is read as JSON",
        (Seam("contract.RequestBody.read", lying(asked=of_one_media_type)),),
        f"{SAYS}[create_monitor-unsupported_media_type]",
    ),
    Lie(
        "If-Match is not looked at",
        (Seam("contract.is_current", always(answer=True)),),
        f"{SAYS}[update_monitor-monitor_changed]",
    ),
    Lie(
        "A repeated Idempotency-Key acts again",
        (Seam("idempotency.act_once", lying(asked=lambda _: {"key": None})),),
        f"{JOURNEYS}::TestMonitor::test_is_created_once_whatever_is_repeated",
    ),
    Lie(
        "The plan allows one more",
        (Seam("monitors.service.create_monitor", with_one_more_than_the_plan),),
        f"{SAYS}[create_monitor-monitor_limit_reached]",
    ),
    Lie(
        "A page begins with what the last one ended with",
        (
            Seam(
                "monitors.queries.list_monitors",
                lying(
                    answered=lambda page: replace(
                        page,
                        continues_after=page.continues_after and page.monitors[0]["id"],
                    )
                ),
            ),
        ),
        f"{JOURNEYS}::TestMonitor::test_is_met_once_by_whoever_turns_the_pages",
    ),
    Lie(
        "A filter filters nothing",
        (
            Seam(
                "monitors.queries.list_monitors",
                lying(asked=lambda given: {"wanted": replace(given["wanted"], paused=None)}),
            ),
        ),
        f"{JOURNEYS}::TestMonitor::test_is_found_by_what_a_filter_says_and_by_nothing_else",
    ),
    Lie(
        "What is deleted is still there",
        (Seam("monitors.service.delete_monitor", always(answer=None)),),
        f"{JOURNEYS}::TestMonitor::test_lives_from_a_token_to_its_end",
    ),
    Lie(
        "The webhook answers with an id that nobody has",
        (Seam(f"articles.handlers.{DELIVER}", lying(answered=under_other_ids)),),
        f"{JOURNEYS}::TestLinks::test_location_is_where_the_link_to_read_it_leads",
    ),
    Lie(
        "What is queued is called translated",
        (
            Seam(
                "articles.represent_article",
                lying(answered=with_translations(status="translated")),
            ),
        ),
        f"{JOURNEYS}::TestArticle::test_is_translated_and_translated_again_when_it_changes",
    ),
    Lie(
        "The served document is not quite the published one",
        (
            Seam(
                "web.handlers.get_document_yaml",
                lying(
                    answered=lambda reply: replace(
                        reply, body=reply.body.replace(b"maxLength: 100", b"maxLength: 99")
                    )
                ),
            ),
        ),
        f"{PUBLISHED}::TestServedDocument::test_it_is_this_one_without_our_notes",
    ),
]
