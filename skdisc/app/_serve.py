"""`skdisc app` as a server on this machine."""

import os
import signal
import socket
import webbrowser
from collections.abc import Callable
from html import escape
from pathlib import Path

from skdisc._utils._optional import require

_REDIRECT = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}"><title>skdisc</title></head>
<body><p><a href="{address}">Open the app</a></p></body></html>
"""


def serve(
    *,
    port: int = 0,
    browser: bool = True,
    data: str | None = None,
    most_upload: str = "600MB",
    tell: Callable[[str], None],
) -> None:
    """Serve the app until it is interrupted.

    Parameters
    ----------
    port : int, default=0
        0: one that the system chooses.
    browser : bool, default=True
        Whether the browser is opened; else the address is told.
    data : str, optional
        A file to begin with.
    most_upload : str, default="600MB"
        Size of the largest upload.
    tell : callable
        Takes lines for the terminal.

    Raises
    ------
    ImportError
        If a package of the extra ``app`` is not installed.
    ValueError
        If the port is taken, or there is no such file.
    """
    for package in ("starlette", "uvicorn", "python_multipart", "jinja2"):
        require(package, extra="app", purpose="The app")
    if data is not None and not Path(data).is_file():
        raise ValueError(f"There is no file {data!r}.")
    import uvicorn

    from skdisc.app._folder import PrivateFolder
    from skdisc.app._gate import Gate
    from skdisc.app._pages import make_app
    from skdisc.app._upload import bytes_of, table_end

    most_bytes = bytes_of(most_upload)
    if data is not None:
        table_end(data)
    with _listening(port) as listening:
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # else nothing is deleted
        folder = PrivateFolder()
        try:
            app, _ = make_app(folder, most_bytes, data)
            gate = Gate(app, listening.getsockname()[1])
            _let_in(gate, folder.path / "open.html", browser, tell)
            config = uvicorn.Config(
                gate,
                log_level="warning",
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=2,
                ws="none",
            )
            uvicorn.Server(config).run(sockets=[listening])
        except KeyboardInterrupt:  # the way to end it
            pass
        finally:
            folder.close()


def _listening(port):
    """Return a socket that listens on this machine only."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if port:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port))
        # Before anyone is told the address: a browser that is faster than the server waits in
        # the queue, where it would otherwise be refused.
        listening.listen()
    except (OSError, OverflowError) as error:
        listening.close()
        reason = getattr(error, "strerror", None) or error
        raise ValueError(f"--port {port} cannot be used: {reason}.") from None
    return listening


def _let_in(gate, path, browser, tell):
    """Open the browser, by a private file that has the token, or tell the address."""
    tell("skdisc app runs on this machine only. Ctrl-C ends it and deletes its files.")
    if browser:
        with open(path, "x", encoding="utf-8", opener=_private) as file:
            file.write(_REDIRECT.format(address=escape(gate.address)))
        gate.when_spent = lambda: path.unlink(missing_ok=True)
        if webbrowser.open(path.as_uri()):
            tell("The browser opens. If it does not: skdisc app --no-browser tells the address.")
            return
    tell(f"Open this address in a browser; it works once:\n\n    {gate.address}\n")


def _private(path, flags):
    """Open a file that only this user may read."""
    return os.open(path, flags, 0o600)
