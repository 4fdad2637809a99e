"""Serve a folder of files to a browser on this machine, with the two headers that code in a page needs."""

from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

HEADERS = {"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp"}
"""Headers with which a page may share memory with its workers, so that one can wait for another."""
HOST = "127.0.0.1"


class _Handler(SimpleHTTPRequestHandler):
    def end_headers(self) -> None:
        for name, value in HEADERS.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Do not print single requests."""


def server(folder: Path, port: int) -> ThreadingHTTPServer:
    """Return a server that is ready to serve. Only this machine can reach it.

    Args:
      folder: folder with the files.
      port: 0 for any free port; `server_port` is then the chosen one.

    Raises:
      OSError: if the port is taken.
    """
    return ThreadingHTTPServer((HOST, port), partial(_Handler, directory=str(folder)))
