from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from pydantic import SecretStr
from redis.asyncio import Redis

from monitoring.backends.counters import (
    MAX_CONNECTIONS,
    Counters,
    RateLimitPolicy,
    open_counters,
)
from monitoring.backends.outage import RETRY_AFTER_SECONDS

if TYPE_CHECKING:
    from real_servers import RedisServer

pytestmark = pytest.mark.anyio
THREE_A_MINUTE = RateLimitPolicy("api", limit=3, window_seconds=60)


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


class TestInMemory:
    async def test_the_fourth_of_three_is_refused_until_the_window_ends(self) -> None:
        clock = Clock()
        counters = Counters(clock=clock)
        hits = [await counters.hit(THREE_A_MINUTE, "alice") for _ in range(4)]
        assert [(hit.allowed, hit.remaining) for hit in hits] == [
            (True, 2),
            (True, 1),
            (True, 0),
            (False, 0),
        ]
        clock.now += 59.5
        assert (await counters.hit(THREE_A_MINUTE, "alice")).reset_seconds == 1
        clock.now += 0.5
        assert (await counters.hit(THREE_A_MINUTE, "alice")).remaining == 2

    async def test_keys_and_policies_are_counted_apart(self) -> None:
        counters = Counters()
        await counters.hit(THREE_A_MINUTE, "alice")
        assert (await counters.hit(THREE_A_MINUTE, "bob")).remaining == 2
        assert (await counters.hit(RateLimitPolicy("token", 3, 60), "alice")).remaining == 2

    async def test_windows_that_ended_are_forgotten(self) -> None:
        clock = Clock()
        counters = Counters(clock=clock)
        for number in range(100):
            await counters.hit(THREE_A_MINUTE, str(number))
        clock.now += 61
        await counters.hit(THREE_A_MINUTE, "alice")
        assert list(counters._memory._windows[THREE_A_MINUTE]) == ["alice"]  # noqa: SLF001

    async def test_of_too_many_windows_the_oldest_are_forgotten(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("monitoring.backends.counters.MAX_WINDOWS", 3)
        counters = Counters()
        for key in ("alice", "bob", "charlie", "alice", "mallory"):
            await counters.hit(THREE_A_MINUTE, key)
        left = [(await counters.hit(THREE_A_MINUTE, key)).remaining for key in ("bob", "charlie", "mallory")]
        assert left == [1, 1, 1]
        assert (await counters.hit(THREE_A_MINUTE, "alice")).remaining == 2

    async def test_an_allowance_writes_the_headers_of_the_draft(self) -> None:
        allowance = await Counters(clock=Clock()).hit(RateLimitPolicy("api", 600, 60), "alice")
        assert allowance.headers() == {
            "RateLimit": '"api";r=599;t=60',
            "RateLimit-Policy": '"api";q=600;w=60',
        }


@pytest.mark.production("only Redis counts for several processes")
class TestOnRedis:
    async def test_two_processes_count_together(self, redis_server: RedisServer) -> None:
        url = SecretStr(redis_server.url)
        async with open_counters(url) as one, open_counters(url) as other:
            hits = await asyncio.gather(*(c.hit(THREE_A_MINUTE, "alice") for c in (one, other) * 5))
        assert sum(hit.allowed for hit in hits) == 3
        assert all(1 <= hit.reset_seconds <= 60 for hit in hits)

    @pytest.mark.parametrize("option", ["decode_responses=True", "protocol=2", "protocol=3"])
    async def test_it_counts_whatever_the_url_says_about_answers(
        self, redis_server: RedisServer, option: str
    ) -> None:
        async with open_counters(SecretStr(f"{redis_server.url}?{option}")) as counters:
            assert (await counters.hit(THREE_A_MINUTE, option)).remaining == 2
            assert (await counters.hit(THREE_A_MINUTE, option)).remaining == 1

    async def test_it_says_how_many_seconds_of_a_window_are_left(self, redis_server: RedisServer) -> None:
        async with (
            open_counters(SecretStr(redis_server.url)) as counters,
            Redis.from_url(redis_server.url) as redis,
        ):
            await counters.hit(THREE_A_MINUTE, "begun")
            assert 30_000 < await redis.pttl("monitoring:rate:api:begun") <= 60_000
            await redis.pexpire("monitoring:rate:api:begun", 30_000)
            assert 1 < (await counters.hit(THREE_A_MINUTE, "begun")).reset_seconds <= 30

    async def test_a_window_ends(self, redis_server: RedisServer) -> None:
        one_a_second = RateLimitPolicy("api", limit=1, window_seconds=1)
        async with open_counters(SecretStr(redis_server.url)) as counters, asyncio.timeout(5):
            await counters.hit(one_a_second, "alice")
            while not (await counters.hit(one_a_second, "alice")).allowed:  # noqa: ASYNC110 - Redis's clock
                await asyncio.sleep(0.05)

    async def test_whom_redis_has_hung_up_on_counts_on_over_another_connection(
        self, redis_server: RedisServer, own_log: pytest.LogCaptureFixture
    ) -> None:
        async with open_counters(SecretStr(redis_server.url)) as counters:
            await asyncio.gather(*(counters.hit(THREE_A_MINUTE, "bob") for _ in range(3)))
            await counters.hit(THREE_A_MINUTE, "alice")
            async with Redis.from_url(redis_server.url) as client:
                await client.client_kill_filter(_type="normal", skipme=True)
            assert (await counters.hit(THREE_A_MINUTE, "alice")).remaining == 1
            assert not own_log.records

    @pytest.mark.usefixtures("no_patience_with_redis")
    async def test_those_who_ask_a_silent_redis_at_once_count_in_the_process_with_one_warning(
        self, redis_server: RedisServer, own_log: pytest.LogCaptureFixture
    ) -> None:
        async with open_counters(SecretStr(redis_server.url)) as counters:
            await counters.hit(THREE_A_MINUTE, "bob")
            async with Redis.from_url(redis_server.url) as client:
                await client.client_pause(10_000, all=False)  # writes
                hits = await asyncio.gather(*(counters.hit(THREE_A_MINUTE, "alice") for _ in range(50)))
                assert sum(hit.allowed for hit in hits) == 3
                await client.client_unpause()
        assert len(own_log.records) == 1

    async def test_who_finds_all_connections_in_use_counts_in_the_process_without_an_outage(
        self, redis_server: RedisServer, own_log: pytest.LogCaptureFixture
    ) -> None:
        async with open_counters(SecretStr(redis_server.url)) as counters:
            await counters.hit(THREE_A_MINUTE, "busy")
            for _ in range(MAX_CONNECTIONS):
                await counters._free_connections.acquire()  # noqa: SLF001 - as those do who wait for Redis
            assert (await counters.hit(THREE_A_MINUTE, "busy")).remaining == 2
            for _ in range(MAX_CONNECTIONS):
                counters._free_connections.release()  # noqa: SLF001
            assert (await counters.hit(THREE_A_MINUTE, "busy")).remaining == 1
        assert not own_log.records

    async def test_many_who_ask_at_once_get_their_own_answers_over_a_bounded_number_of_connections(
        self, redis_server: RedisServer
    ) -> None:
        async with open_counters(SecretStr(redis_server.url)) as counters:
            policies = [RateLimitPolicy("api", limit, 60) for limit in range(200)]
            hits = await asyncio.gather(*(counters.hit(policy, f"{policy.limit}") for policy in policies))
            assert [hit.remaining for hit in hits] == [max(0, policy.limit - 1) for policy in policies]
            async with Redis.from_url(redis_server.url) as client:
                assert len(await client.client_list(_type="normal")) <= MAX_CONNECTIONS + 1

    async def test_a_caller_who_goes_leaves_the_others_their_answers(self, redis_server: RedisServer) -> None:
        async with open_counters(SecretStr(redis_server.url)) as counters:
            await counters.hit(THREE_A_MINUTE, "bob")
            hits = [asyncio.ensure_future(counters.hit(THREE_A_MINUTE, key)) for key in ("alice", "bob")]
            await asyncio.sleep(0)  # both have asked
            hits[0].cancel()
            assert (await hits[1]).remaining == 1
            assert (await counters.hit(THREE_A_MINUTE, "alice")).remaining == 1

    async def test_without_redis_each_process_counts_alone_with_one_warning(
        self, redis_server: RedisServer, own_log: pytest.LogCaptureFixture
    ) -> None:
        async with open_counters(SecretStr(redis_server.url)) as counters:
            clock = counters._breaker._clock = Clock()  # noqa: SLF001
            await counters.hit(THREE_A_MINUTE, "alice")
            redis_server.stop()
            hits = [await counters.hit(THREE_A_MINUTE, "alice") for _ in range(50)]
            assert sum(hit.allowed for hit in hits) == 3
            assert len(own_log.records) == 1

            redis_server.start()
            clock.now += RETRY_AFTER_SECONDS
            assert (await counters.hit(THREE_A_MINUTE, "alice")).remaining == 2
