"""Connects to a host of several addresses: IPv6 and IPv4 in turn, the first wins (RFC 8305)."""

from __future__ import annotations

import socket

from aiohappyeyeballs import start_connection

#: Seconds between two attempts to connect to a host's addresses (RFC 8305, 8).
RACE_S = 0.25


async def race(addresses: list[str], port: int) -> socket.socket | str:
    """Connect to the first of several addresses that accepts; a single one is returned as it is.

    Raises:
        OSError: no address accepts.
    """
    if len(addresses) == 1:
        return addresses[0]
    infos = [
        (socket.AF_INET6, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (address, port, 0, 0))
        if ":" in address
        else (socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (address, port))
        for address in addresses
    ]
    return await start_connection(infos, happy_eyeballs_delay=RACE_S, interleave=1)
