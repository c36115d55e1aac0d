"""Where a server can listen: addresses and ports of this machine, and its names."""

import ipaddress
import os
import socket
from typing import Final

from board.errors import BoardError

PORTS_TRIED: Final = 20


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server bound to `host`; a name other than localhost counts as reachable."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def check_listen(host: str, port: int) -> None:
    """Raise BoardError if nothing can listen there: the port is taken, reserved, or the address is not this machine's."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, os.name != "nt")
        try:
            probe.bind((host, port))
            probe.listen(1)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise BoardError(f"Cannot listen on {bracketed(host)}:{port} ({reason}). Choose another port with --port.") from error


def free_port(host: str, first: int) -> int:
    """`first`, or the next port on which something can listen. Raises BoardError, that of `first`, where there is none near."""
    refused = None
    for port in range(first, min(first + PORTS_TRIED, 65_536)):
        try:
            check_listen(host, port)
        except BoardError as error:
            refused = refused or error
        else:
            return port
    raise refused or BoardError(f"There is no port {first}.")


def machine_names() -> set[str]:
    """The names other machines may know this one by."""
    name = socket.gethostname()
    return {name, name.partition(".")[0], f"{name.partition('.')[0]}.local", socket.getfqdn()}


def outward_address() -> str:
    """The address of the interface that leads out of this machine; connecting a datagram socket sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return "127.0.0.1"
        return str(probe.getsockname()[0])


def bracketed(host: str) -> str:
    """The host as it stands in an address: one of IPv6 in brackets."""
    return f"[{host}]" if ":" in host else host
