"""The suite's own servers answer, and each test gets a place of its own."""

from __future__ import annotations

import psycopg2
from redis.asyncio import Redis


async def test_the_sessions_redis_answers(redis_client: Redis, namespace: str) -> None:
    assert await redis_client.set(namespace, 1)
    assert await redis_client.get(namespace) == b"1"
    await redis_client.delete(namespace)


def test_an_empty_database_has_no_tables(database_url_empty: str) -> None:
    connection = psycopg2.connect(database_url_empty)
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")
        assert cursor.fetchone() == (0,)
    connection.close()
