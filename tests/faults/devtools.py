"""A second, independent DevTools connection to the browser under test: one WebSocket with the standard library alone."""

import base64
import json
import os
import socket
import struct
import urllib.request
from pathlib import Path
from urllib.parse import urlparse


class DevTools:
    """One session with one page. Only what the fault trials need: send a command, never wait for its answer."""

    def __init__(self, websocket_url: str, timeout: float = 3):
        address = urlparse(websocket_url)
        self.socket = socket.create_connection((address.hostname, address.port), timeout)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET {address.path} HTTP/1.1\r\nHost: {address.hostname}:{address.port}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        head = b""
        while b"\r\n\r\n" not in head:
            part = self.socket.recv(4096)
            if not part:
                raise ConnectionError("the browser refused the WebSocket")
            head += part
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise ConnectionError(f"the browser answered {head[:80]!r}")

    def send(self, method: str, **parameters) -> None:
        body = json.dumps({"id": 1, "method": method, "params": parameters}).encode()
        mask = os.urandom(4)
        length = bytes([0x80 | len(body)]) if len(body) < 126 else bytes([0x80 | 126]) + struct.pack(">H", len(body))
        self.socket.sendall(b"\x81" + length + mask + bytes(byte ^ mask[index % 4] for index, byte in enumerate(body)))

    def close(self) -> None:
        self.socket.close()


def page_of(profile: Path) -> str | None:
    """The WebSocket of the arm's page in the browser of this profile; None where there is none (yet)."""
    try:
        data = profile / "t" / "data"  # in memory, where the system has such a folder
        port = int(((data if data.exists() else profile) / "DevToolsActivePort").read_text().splitlines()[0])
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=1) as reply:
            targets = json.load(reply)
    except (OSError, ValueError, IndexError):
        return None
    pages = [target for target in targets if target.get("type") == "page" and "/arm/" in target.get("url", "")]
    return pages[0].get("webSocketDebuggerUrl") if pages else None


def evaluate_in_page(profile: Path, script: str) -> bool:
    """Starts a script in the arm's page; False where the page is not there or goes away meanwhile."""
    url = page_of(profile)
    if url is None:
        return False
    try:
        session = DevTools(url)
        # In a task of its own: an evaluation that never returns must not hang the debugger instead of the page.
        session.send("Runtime.evaluate", expression=f"setTimeout(() => {{ {script} }}, 0), 0")
        session.socket.settimeout(1)
        answered = bool(session.socket.recv(4096))
        session.close()
        return answered
    except OSError:
        return False
