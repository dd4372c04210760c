"""Connections to public addresses only: a link in somebody's table must not reach what is behind our door.

A host's name is looked up here, every address that it has is checked, and the connection is made to the very address that
was checked: a name that points elsewhere a moment later (DNS rebinding) changes nothing. TLS still checks the name.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import socket
from collections.abc import Awaitable, Callable, Iterable

import httpcore2

#: The setting under which links to this machine and this network are fetched as well.
ALLOW_PRIVATE = "SECOND_LOOK_ALLOW_PRIVATE_LINKS"
Resolve = Callable[[str, int], Awaitable[list[str]]]


class AddressRefused(ValueError):  # noqa: N818 - it names what happened
    """The host is not to be asked, or has no address; the text says why."""


def is_public(address: str) -> bool:
    """Whether an IP address is one of the open internet, also when it is wrapped into an IPv6 address.

    >>> is_public("93.184.216.34"), is_public("100.64.0.1"), is_public("::ffff:127.0.0.1")
    (True, False, False)
    """
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(found, ipaddress.IPv6Address):
        inner = ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
        if found.ipv4_mapped is not None or found in _NAT64:
            return _is_open(inner)  # another way to write that address
        tunnelled = [ip for ip in (found.sixtofour, *(found.teredo or ())) if ip is not None]
        return _is_open(found) and all(map(_is_open, tunnelled))
    return _is_open(found)


def _is_open(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    is_of_a_site = isinstance(address, ipaddress.IPv6Address) and address.is_site_local  # fec0::/10, once private
    is_odd = address.is_multicast or address.is_reserved or address.is_unspecified
    return address.is_global and not (is_odd or is_of_a_site)


_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


async def looked_up(host: str, port: int) -> list[str]:
    """The addresses of a host, in the order in which the system would try them.

    :raises AddressRefused: if it has none.
    :raises httpcore2.ConnectError: if that cannot be found out now.
    """
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise _not_looked_up(host, error) from error
    return list(dict.fromkeys(entry[4][0] for entry in found))


def _not_looked_up(host: str, error: Exception) -> Exception:
    """What a failed look-up says: that there is no such host, or that the name server did not tell this time."""
    if isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN:
        return httpcore2.ConnectError(f"the name {host} could not be looked up just now")
    return AddressRefused(f"there is no host {host}")


class PublicOnly(httpcore2.AsyncNetworkBackend):
    """The network as httpcore sees it, without what is private. resolve: another way to look names up."""

    def __init__(self, resolve: Resolve = looked_up):
        self._resolve, self._network = resolve, httpcore2.AnyIOBackend()

    async def connect_tcp(
        self, host: str, port: int, timeout: float | None = None,  # noqa: ASYNC109 - httpcore asks for it
        local_address: str | None = None, socket_options: Iterable | None = None,
    ) -> httpcore2.AsyncNetworkStream:  # fmt: skip
        """A connection to a checked address of the host.

        :raises AddressRefused: if it has none, or one of them is private and the setting does not allow it.
        """
        addresses = await asyncio.wait_for(self._resolve(host, port), timeout)
        private = [address for address in addresses if not is_public(address)]
        if private and os.environ.get(ALLOW_PRIVATE) != "1":
            raise AddressRefused(
                f"{host} is at {private[0]}, which is not a public address; set {ALLOW_PRIVATE}=1 to allow that"
            )
        failure: Exception | None = None
        for address in addresses[:4]:
            try:
                return await self._network.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        raise failure or AddressRefused(f"there is no host {host}")

    async def sleep(self, seconds: float) -> None:
        await self._network.sleep(seconds)
