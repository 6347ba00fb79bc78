"""`scrapy redis`: send commands to the frontier's Redis, without redis-cli."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterator
from typing import Any

from redis.exceptions import RedisError

from crawler.stores.store_endpoints import blocking_client, endpoints
from scrapy_seine.commands.base import SeineCommand
from scrapy_seine.commands.one_line_errors import FAILED, complain
from scrapy_seine.errors import ConfigError


class Command(SeineCommand):
    """Sends one command and prints the reply as redis-cli does; opens a prompt without one."""

    summary = "Send a command to Redis; without a command, open a prompt"
    arguments = "[COMMAND ARGUMENT …]"
    example = "scrapy redis lpush catalog:start_urls https://shop.example/"
    any_words = True

    def perform(self, args: list[str], opts: argparse.Namespace) -> int:
        """Send the command, or each line of standard input.

        Raises:
            ConfigError: Redis refuses the command.
            StoreUnreachable: Redis does not answer.
        """
        url = endpoints(self.project, need=("redis",)).redis_url
        with blocking_client(url) as redis:
            if args and not args[0]:
                raise ConfigError("the command is empty; name one, as PING")
            if args:
                return self._send(redis, args)
            return max((self._line(redis, line) for line in _lines()), default=0)

    def _line(self, redis: Any, line: str) -> int:
        try:
            words = shlex.split(line)
        except ValueError as error:
            complain(str(error))
            return FAILED
        try:
            return self._send(redis, words) if words else 0
        except ConfigError as error:  # at a prompt the next line may be right
            complain(str(error))
            return FAILED

    def _send(self, redis: Any, words: list[str]) -> int:
        try:
            # Without redis-py's conversions of replies: shown as the server sent them.
            redis.response_callbacks.clear()
            reply = redis.execute_command(*words)
        except (RedisError, OSError) as error:
            raise ConfigError(f"Redis: {error}") from None
        self.show("\n".join(reply_text(reply)), reply=plain(reply))
        return 0


def _lines() -> Iterator[str]:
    while True:
        try:
            line = input("redis> " if sys.stdin.isatty() else "")
        except EOFError:
            return
        if line.strip().lower() in {"quit", "exit"}:
            return
        yield line


def reply_text(reply: Any, indent: str = "") -> Iterator[str]:
    r"""Render a reply as redis-cli does.

    >>> list(reply_text([b"a", 1, None, [b"b"]]))
    ['1) "a"', '2) (integer) 1', '3) (nil)', '4) 1) "b"']
    """
    if isinstance(reply, list | tuple | set):
        if not reply:
            yield "(empty)"
        for number, part in enumerate(reply, 1):
            head = f"{number}) "
            first_line, *further_lines = reply_text(part, indent + " " * len(head))
            yield head + first_line
            yield from (indent + " " * len(head) + line for line in further_lines)
    elif isinstance(reply, dict):
        yield from reply_text([side for pair in reply.items() for side in pair], indent)
    elif reply is None:
        yield "(nil)"
    elif isinstance(reply, bytes):
        quoted = str(plain(reply)).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        yield f'"{quoted}"'
    else:
        yield f"(integer) {reply}" if isinstance(reply, int) else str(reply)


def plain(reply: Any) -> Any:
    """Return a reply as plain data, with bytes as text."""
    if isinstance(reply, bytes):
        return reply.decode("utf-8", "replace")
    if isinstance(reply, list | tuple | set):
        return [plain(part) for part in reply]
    if isinstance(reply, dict):
        return {str(plain(key)): plain(value) for key, value in reply.items()}
    return reply
