"""An incident's page: what it tells, and what people do about it without a script."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from app.visitor import Visitor, read_forms, read_text
from history.diary import make_result, write_down
from incidents.breakdowns import SENTENCE, break_down, open_incident, resolve
from monitoring.app.channels.labels import name_channel_type
from monitoring.app.incidents.timeline import describe_notification
from monitoring.backends.database import transaction
from monitoring.history.models import Rollup
from monitoring.history.rollups import roll_up
from monitoring.incidents.models import Incident, Resolution
from monitoring.incidents.service import resolve_incident
from monitoring.monitors.service import create_monitor
from monitoring.notifications.channels import CHANNELS
from monitoring.notifications.models import DeliveryStatus, NotificationChannel, NotificationDelivery

if TYPE_CHECKING:
    from uuid import UUID

    from cast import Player
    from monitoring.contract.document import Json
    from monitoring.monitors.models import Monitor
    from running_service import RunningService

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)

OPS: dict[str, Json] = {"type": "slack", "name": "Ops", "url": "https://hooks.example.com/a-secret"}
ALWAYS = {"starts_at": "00:01", "ends_at": "00:00", "time_zone": "UTC"}
NOT_YET = "None of your channels has been notified of this incident."


@pytest.fixture
def monitor(service: RunningService, alice: Player) -> Monitor:
    """Is down."""

    async def begin() -> Monitor:
        monitor = await create_monitor(alice.team_id, {"name": "Shop", "url": "https://shop.example.com/"})
        await break_down(monitor)
        return monitor

    return service.run(begin())


def find(service: RunningService, monitor: Monitor) -> Incident:
    async def read() -> Incident:
        return await Incident.get(monitor_id=monitor.id)

    return service.run(read())


def page_of(service: RunningService, monitor: Monitor) -> str:
    return f"/incidents/{find(service, monitor).id}"


def make_delivery(channel: dict[str, str], **changes: object) -> NotificationDelivery:
    """Make a delivery that is in no database."""
    made = NotificationDelivery(event="incident.opened", created_at=datetime.now(UTC), **changes)
    made.channel = NotificationChannel(**channel)
    return made


def titles_of(page: str) -> list[str]:
    return [re.sub("<.*?>", "", title) for title in re.findall(r"<strong>(.*?)</strong>", page)]


class TestList:
    def test_is_not_below_the_settings(self, owner: Visitor) -> None:
        settings = 'aria-label="Settings"'
        assert settings in owner.open("/settings/notifications").text
        for path in ("/incidents", "/monitors", "/incidents?state=open"):
            assert settings not in owner.open(path).text


class TestPage:
    def test_is_linked_from_the_lists(
        self, service: RunningService, owner: Visitor, monitor: Monitor
    ) -> None:
        for path in ("/incidents", f"/monitors/{monitor.id}"):
            assert f'href="/app{page_of(service, monitor)}"' in owner.open(path).text

    def test_tells_monitors_of_one_name_apart_by_their_urls(
        self, service: RunningService, owner: Visitor, monitor: Monitor
    ) -> None:
        for path in ("/incidents", page_of(service, monitor)):
            assert f" {monitor.url} " in read_text(owner.open(path).text)

    def test_shows_no_url_of_a_heartbeat(
        self, service: RunningService, owner: Visitor, alice: Player
    ) -> None:
        async def begin() -> Monitor:
            settings = {"type": "heartbeat", "name": "Backup", "heartbeat": {"period_seconds": 60}}
            heartbeat = await create_monitor(alice.team_id, settings)
            await break_down(heartbeat)
            return heartbeat

        heartbeat = service.run(begin())
        for path in ("/incidents", page_of(service, heartbeat)):
            page = owner.open(path).text
            assert "Backup" in page
            assert heartbeat.url not in page

    def test_says_that_nobody_is_told(
        self, service: RunningService, owner: Visitor, monitor: Monitor
    ) -> None:
        page = owner.open(page_of(service, monitor)).text
        assert "Nobody is notified of this incident." in read_text(page)
        assert titles_of(page)[:1] == ["The first check failed"]
        assert SENTENCE in page

    def test_sends_the_alert_once_to_channels_that_came_later(
        self, service: RunningService, owner: Visitor, alice: Player, monitor: Monitor
    ) -> None:
        path = page_of(service, monitor)
        later = {"delay_seconds": 3600, "quiet_hours": ALWAYS}
        alice.post("/api/notification-channels", json=OPS | {"routing": later}).raise_for_status()
        page = owner.open(path).text
        assert f"{NOT_YET} It can be sent to Ops." in read_text(page)
        form = read_forms(page)[f"/app{path}/tell"]
        pages = [owner.post(f"{path}/tell", data=form).text for _ in range(2)]
        assert ["The alert is on its way." in each for each in pages] == [True, False]

        async def list_alerts() -> list[NotificationDelivery]:
            incident = await Incident.get(monitor_id=monitor.id)
            return await NotificationDelivery.filter(subject_id=incident.id, event="incident.opened")

        [alert] = service.run(list_alerts())
        assert alert.hold is None  # neither for the delay nor for quiet hours: a person asked for it
        page = owner.open(path).text
        assert "None of your channels" not in read_text(page.partition("</main>")[0])
        assert f"/app{path}/tell" not in read_forms(page)

    def test_offers_no_alert_of_what_somebody_has_acknowledged(
        self, service: RunningService, owner: Visitor, alice: Player, monitor: Monitor
    ) -> None:
        path = page_of(service, monitor)
        alice.post("/api/notification-channels", json=OPS).raise_for_status()
        forms = read_forms(owner.open(path).text)
        owner.post(f"{path}/acknowledge", data=forms[f"/app{path}/acknowledge"])
        owner.post(f"{path}/tell", data=forms[f"/app{path}/tell"])
        page = owner.open(path).text
        assert "None of your channels" not in read_text(page)
        assert "is being notified" not in read_text(page)

    def test_says_that_its_monitor_is_muted_and_by_whom(
        self, service: RunningService, owner: Visitor, alice: Player, monitor: Monitor
    ) -> None:
        path = page_of(service, monitor)
        alice.post("/api/notification-channels", json=OPS).raise_for_status()
        on_monitor = f"/monitors/{monitor.id}"
        mute = read_forms(owner.open(on_monitor).text)[f"/app{on_monitor}/mute"]
        owner.post(f"{on_monitor}/mute", data=mute | {"mute_hours": "1"})
        page = owner.open(path).text
        assert re.search(r"Muted by Alice until .+: nobody is notified about this monitor", read_text(page))
        assert f"/app{path}/tell" not in read_forms(page)
        owner.post(f"{on_monitor}/unmute", data=read_forms(page)[f"/app{on_monitor}/unmute"])
        assert NOT_YET in read_text(owner.open(path).text)

    def test_warns_of_no_silence_if_a_reminder_will_follow(
        self, service: RunningService, owner: Visitor, alice: Player, monitor: Monitor
    ) -> None:
        reminded = OPS | {"events": ["incident.reminder"]}
        alice.post("/api/notification-channels", json=reminded).raise_for_status()
        for path in (page_of(service, monitor), f"/monitors/{monitor.id}", "/monitors"):
            text = read_text(owner.open(path).text)
            assert "Nobody is notified" not in text
            assert NOT_YET not in text

    def test_sends_no_alert_of_what_is_over_or_another_team_s(
        self,
        service: RunningService,
        owner: Visitor,
        outsider: Visitor,
        alice: Player,
        monitor: Monitor,
    ) -> None:
        path = page_of(service, monitor)
        alice.post("/api/notification-channels", json=OPS).raise_for_status()
        form = read_forms(owner.open(path).text)[f"/app{path}/tell"]
        own = read_forms(outsider.open("/settings/account").text)["/app/sign-out"]
        assert outsider.post(f"{path}/tell", data=own).status_code == 404
        service.run(resolve(monitor))
        assert owner.post(f"{path}/tell", data=form).status_code == 409

    def test_shows_the_answer_that_confirmed_it_as_text_here_and_on_the_monitor_s(
        self, service: RunningService, owner: Visitor, alice: Player
    ) -> None:
        answer: dict[str, Json] = {"status_code": 503, "headers": [["x-note", "<b>down</b>"]]}

        async def begin() -> tuple[str, str]:
            monitor = await create_monitor(alice.team_id, {"url": "https://shop.example.com/"})
            await break_down(monitor, answer)
            incident = await Incident.get(monitor_id=monitor.id)
            return f"/incidents/{incident.id}", f"/monitors/{monitor.id}"

        for path in service.run(begin()):
            page = owner.open(path).text
            assert "HTTP 503" in read_text(page)
            assert "<bdi>&lt;b&gt;down&lt;/b&gt;</bdi>" in page

    def test_without_an_answer_shows_none(
        self, service: RunningService, owner: Visitor, monitor: Monitor
    ) -> None:
        assert "The confirming response" not in owner.open(page_of(service, monitor)).text

    @pytest.mark.parametrize(
        ("changes", "title"),
        [
            ({"status": "pending"}, "Ops is being notified by Slack"),
            ({"status": "failed", "error_message": "Answered 500"}, "Ops could not be notified by Slack"),
            ({"status": "skipped", "error_message": "It was over"}, "Ops was not notified by Slack"),
            ({"status": "delivered"}, "Ops was notified by Slack"),
            ({"status": "delivered", "event": "digest"}, "Ops was notified by Slack"),
        ],
    )
    def test_tells_by_what_each_message_went_and_what_became_of_it(
        self, service: RunningService, owner: Visitor, alice: Player, changes: dict[str, str], title: str
    ) -> None:
        given = {"type": "slack", "name": "Ops", "url": "https://hooks.example.com/a-secret"}
        alice.post("/api/notification-channels", json=given).raise_for_status()

        async def begin() -> UUID:
            monitor = await create_monitor(alice.team_id, {"url": "https://shop.example.com/"})
            async with transaction():  # no worker sees it before
                delivery_ids = await break_down(monitor)
                await NotificationDelivery.filter(id__in=delivery_ids).update(**changes, due_at=None)
            return (await Incident.get(monitor_id=monitor.id)).id

        assert title in titles_of(owner.open(f"/incidents/{service.run(begin())}").text)

    @pytest.mark.parametrize(
        ("resolution", "words"),
        [
            (Resolution.RECOVERED, "It is up again."),
            (Resolution.PAUSED, "It was paused, which ended the incident."),
        ],
    )
    def test_tells_of_its_end_what_it_was(
        self, service: RunningService, owner: Visitor, alice: Player, resolution: Resolution, words: str
    ) -> None:
        given = {"type": "webhook", "name": "Ops", "url": "https://hooks.example.com/a-secret"}
        channel = alice.post("/api/notification-channels", json=given).raise_for_status().json()

        async def end() -> UUID:
            monitor = await create_monitor(alice.team_id, {"url": "https://shop.example.com/"})
            async with transaction():  # no worker sees it before
                await break_down(monitor)
                await resolve(monitor, resolution)
                await NotificationDelivery.filter(channel_id=channel["id"]).update(due_at=None)
            return (await Incident.get(monitor_id=monitor.id)).id

        incident = read_text(owner.open(f"/incidents/{service.run(end())}").text)
        assert words in incident
        assert "or was paused or deleted" not in incident
        sent = owner.open(f"/settings/notifications/{channel['id']}/deliveries").text
        assert words.removesuffix(".") in read_text(sent)

    @pytest.mark.parametrize(
        ("began", "interval_seconds", "window", "count"),
        [
            (timedelta(hours=3), 60, "5-minute window", 26),
            (timedelta(hours=3), 3600, "hour", 10),
            (timedelta(days=20), 60, "hour", 24),
        ],
    )
    def test_draws_what_was_measured_an_hour_before_and_after_it_by_minutes_or_else_by_the_hour(  # noqa: PLR0913, PLR0917
        self,
        service: RunningService,
        owner: Visitor,
        alice: Player,
        began: timedelta,
        interval_seconds: int,
        window: str,
        count: int,
    ) -> None:
        given = {"url": "https://shop.example.com/", "interval_seconds": interval_seconds}

        async def begin() -> UUID:
            started_at = datetime.now(UTC) - began
            monitor = await create_monitor(alice.team_id, given)
            await open_incident(
                monitor, started_at=started_at, confirmed_at=started_at, error="timeout", error_message="None"
            )
            await resolve_incident(
                monitor, resolved_at=started_at + 6 * MINUTE, resolution=Resolution.RECOVERED
            )
            await write_down([make_result(monitor.id, datetime.now(UTC) - n * MINUTE) for n in range(300)])
            await roll_up(datetime.now(UTC))
            hour = started_at.replace(minute=0, second=0, microsecond=0)
            rollup = {"monitor_id": monitor.id, "window": "hour", "check_count": 60, "failed_check_count": 0}
            rollups = [
                Rollup(starts_at=hour + n * HOUR, latencies={"100": 60}, **rollup) for n in range(-6, 18)
            ]
            await Rollup.bulk_create(rollups, ignore_conflicts=True)
            return (await Incident.get(monitor_id=monitor.id)).id

        page = owner.open(f"/incidents/{service.run(begin())}").text
        assert f"Response times by {window}" in read_text(page)
        rows = page.partition(f"Response times by {window}")[2].count('<th scope="row">')
        assert rows in (count, count + 1)  # the clock may stand at the edge of a window
        assert page.partition('data-points="')[2].partition('"')[0].count("\n") == rows - 1

    def test_is_for_the_team_alone(
        self, service: RunningService, outsider: Visitor, monitor: Monitor
    ) -> None:
        path = page_of(service, monitor)
        assert outsider.open(path).status_code == 404
        (form,) = [
            each for each in read_forms(outsider.open("/monitors").text).values() if "csrf_token" in each
        ][:1]
        assert outsider.post(f"{path}/acknowledge", data=form).status_code == 404
        assert find(service, monitor).acknowledged_at is None


@pytest.mark.usefixtures("service")  # without one, models know nothing of each other
class TestTimeline:
    @pytest.mark.parametrize(
        ("given", "title"),
        [
            ({"type": "email", "name": "ops@example.com"}, "was notified by email"),
            ({"type": "webhook", "name": "Pager"}, "was notified by a webhook"),
            ({"type": "pagerduty", "name": "PagerDuty"}, "was notified"),
        ],
    )
    def test_says_by_what_somebody_was_told(self, given: dict[str, str], title: str) -> None:
        told = describe_notification(make_delivery(given, status=DeliveryStatus.DELIVERED))
        assert (told.who, told.title) == (given["name"], title)

    @pytest.mark.parametrize(
        ("reason", "text"),
        [
            (None, "A monitor is down. Not sent yet."),
            ("The name servers did not answer", "The last attempt failed: the name servers did not answer."),
            ("TLS is not spoken", "The last attempt failed: TLS is not spoken."),
        ],
    )
    def test_does_not_give_the_reason_of_a_failed_attempt_as_that_of_the_incident(
        self, reason: str | None, text: str
    ) -> None:
        slack = {"type": "slack", "name": "Ops"}
        told = describe_notification(
            make_delivery(slack, status=DeliveryStatus.PENDING, error_message=reason)
        )
        assert told.text == text

    def test_knows_a_way_for_every_type_of_channel(self) -> None:
        assert all(name_channel_type(channel_type) for channel_type in CHANNELS)


class TestAnswers:
    def test_an_acknowledgement_names_who_made_it(
        self, service: RunningService, owner: Visitor, monitor: Monitor
    ) -> None:
        path = page_of(service, monitor)
        page = owner.submit(path, action=f"{path}/acknowledge").text
        assert f"{owner.user.name} acknowledged it" in titles_of(page)
        assert find(service, monitor).acknowledged_by == owner.email
        assert f"/app{path}/acknowledge" not in read_forms(page)

    @pytest.mark.parametrize(
        ("page", "leads_to"),
        [
            ("/incidents?state=open", "/app/incidents?state=open"),
            ("/monitors?search=Shop", "/app/monitors?search=Shop"),
            ("/monitors/{monitor}", "/app/monitors/{monitor}"),
        ],
    )
    def test_an_acknowledgement_leads_back_to_the_page_with_the_button(
        self, service: RunningService, owner: Visitor, monitor: Monitor, page: str, leads_to: str
    ) -> None:
        opened = owner.open(page.format(monitor=monitor.id)).text
        action = next(each for each in read_forms(opened) if "/acknowledge" in each)
        answer = owner.post(action.removeprefix("/app"), data=read_forms(opened)[action])
        assert answer.url.raw_path.decode() == leads_to.format(monitor=monitor.id)
        assert find(service, monitor).acknowledged_by == owner.email
        assert "/acknowledge" not in " ".join(read_forms(answer.text))

    def test_a_note_is_written_once_and_shown_as_typed(
        self, service: RunningService, owner: Visitor, monitor: Monitor
    ) -> None:
        path = page_of(service, monitor)
        form = read_forms(owner.open(path).text)[f"/app{path}/notes"]
        for _ in range(2):
            sent = owner.post(f"{path}/notes", data=form | {"text": "<b>It was</b>\r\nthe release "})
            assert sent.status_code in (200, 303)
        page = owner.open(path).text
        assert page.count("&lt;b&gt;It was&lt;/b&gt;\nthe release") == 1
        assert f"{owner.user.name} wrote" in titles_of(page)

    def test_a_note_that_says_nothing_is_refused_at_its_field(
        self, service: RunningService, owner: Visitor, monitor: Monitor
    ) -> None:
        path = page_of(service, monitor)
        answer = owner.submit(path, action=f"{path}/notes", text=" \n ")
        assert answer.status_code == 400
        assert 'id="error-text">Must be 1 to ' in answer.text

    def test_nobody_acknowledges_what_is_over(
        self, service: RunningService, owner: Visitor, monitor: Monitor
    ) -> None:
        path = page_of(service, monitor)
        form = read_forms(owner.open(path).text)[f"/app{path}/acknowledge"]
        service.run(resolve(monitor))
        assert owner.post(f"{path}/acknowledge", data=form).status_code == 409
        page = owner.open(path).text
        assert titles_of(page)[-1] == "The monitor recovered"
        assert f"/app{path}/acknowledge" not in read_forms(page)
        assert re.findall(r'<li class="(bad|good)">', page) == ["bad", "bad", "good"]

    def test_a_form_that_has_added_a_note_adds_another_only_when_sent_again(
        self, service: RunningService, owner: Visitor, monitor: Monitor
    ) -> None:
        path = page_of(service, monitor)
        spent = read_forms(owner.open(path).text)[f"/app{path}/notes"]
        owner.post(f"{path}/notes", data=spent | {"text": "First"})
        answer = owner.post(f"{path}/notes", data=spent | {"text": "Second"})
        assert answer.status_code == 422
        assert "This form has already added a note." in answer.text
        assert titles_of(owner.open(path).text).count(f"{owner.user.name} wrote") == 1
        fresh = read_forms(answer.text)[f"/app{path}/notes"]
        owner.post(f"{path}/notes", data=fresh)
        page = owner.open(path).text
        assert titles_of(page).count(f"{owner.user.name} wrote") == 2
        assert "<bdi>Second</bdi>" in page
