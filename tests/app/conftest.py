"""An app behind its gate, and a browser that was let in."""

import time
from types import SimpleNamespace

import pytest

PORT = 4321
HOME = f"http://127.0.0.1:{PORT}"
OWN = {"sec-fetch-site": "same-origin", "origin": HOME}


@pytest.fixture(scope="session")
def reader():
    """Return a process that looks at files; starting one takes seconds."""
    pytest.importorskip("starlette")
    from skdisc.app._pages import Pages

    executor = Pages._executor(SimpleNamespace(_pool=None))
    yield executor
    executor.shutdown(wait=False, cancel_futures=True)


@pytest.fixture
def app(tmp_path, reader):
    """Return an app, its gate, its pages and a client whose cookie was set."""
    testclient = pytest.importorskip("starlette.testclient")
    from skdisc.app._folder import PrivateFolder
    from skdisc.app._gate import Gate
    from skdisc.app._pages import make_app

    (tmp_path / "tmp").mkdir()
    folder = PrivateFolder(tmp_path / "tmp")
    inner, pages = make_app(folder, most_bytes=5_000_000)
    gate = Gate(inner, PORT)
    pages._pool, pages.soon = reader, 60  # seconds: what is looked at is seen at once
    pages.spare.begin = lambda: None  # most tests run no audit
    how = {"base_url": HOME, "headers": OWN, "raise_server_exceptions": False}
    with testclient.TestClient(gate, **how) as client:
        client.get(gate.address)
        yield SimpleNamespace(gate=gate, pages=pages, client=client, folder=folder, inner=inner)
        if pages._pool is reader:
            pages._pool = None
    folder.close()


@pytest.fixture
def ended(app):
    """Return a function that waits until an audit has ended, and returns how."""

    def wait(address, most=60):
        until = time.monotonic() + most
        while time.monotonic() < until:
            told = app.client.get(f"{address}/state").json()
            if told["state"] != "running":
                return told["state"]
            time.sleep(0.05)
        raise AssertionError(f"{address} has not ended")

    return wait
