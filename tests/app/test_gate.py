"""Who may send requests to the app, and what it leaves on the disk."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("starlette")
pytest.importorskip("python_multipart")

HOME = "http://127.0.0.1:4321"


def place(route):
    return re.sub(r"\{\w+\}", "x", route.path)


def stranger(app, **how):
    """Return a client without cookies, with the headers of a page of the app."""
    from starlette.testclient import TestClient

    headers = {"sec-fetch-site": "same-origin", "origin": HOME}
    return TestClient(app.gate, base_url=HOME, headers=headers, **how)


def test_every_route_without_the_cookie_is_refused(app):
    client = stranger(app)
    assert len(app.inner.routes) > 10
    for route in app.inner.routes:
        for method in {*route.methods, "GET", "POST", "PUT", "DELETE", "OPTIONS"}:
            answer = client.request(method, place(route))
            assert answer.status_code == 403, (method, route.path)
            assert "access-control-allow-origin" not in answer.headers


def test_every_route_takes_a_body_of_some_size_at_most(app):
    for route in app.inner.routes:
        assert type(route.app).__name__ == "RequestBodyLimitMiddleware", route.path


def test_a_token_lets_in_until_the_cookie_comes_back(app):
    from starlette.testclient import TestClient

    from skdisc.app._gate import Gate

    gate = Gate(app.inner, 4321)
    first, second = (TestClient(gate, base_url=HOME) for _ in range(2))
    assert first.get("/?token=wrong").status_code == 403
    assert first.get(f"/?token={gate.token}&token={gate.token}").status_code == 403
    assert first.post(f"/?token={gate.token}").status_code == 403
    assert first.get(f"/files?token={gate.token}").status_code == 403
    answer = first.get(gate.address)
    assert answer.status_code == 200
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert gate.token not in cookie
    first.cookies.clear()
    assert first.get(gate.address).status_code == 200  # the browser may ask twice
    assert not gate.spent
    assert first.get("/").status_code == 200
    assert gate.spent
    answer = second.get(gate.address)
    assert answer.status_code == 403
    assert "open in another one" in answer.text


@pytest.mark.parametrize(
    "host",
    [
        "evil.example:4321",
        "127.0.0.1",
        "127.0.0.1:80",
        "127.0.0.1:43210",
        "[::1]evil:4321",
        "[::1]evil",
        "127.0.0.1:4321/docs?",
        "x/docs?",
        "localhost:4321@evil.example",
        "127.0.0.1:4321.evil.example",
        "0.0.0.0:4321",
        "LOCALHOST:4321",
        "",
    ],
)
def test_another_host_is_refused(app, host):
    answer = app.client.get("/", headers={"host": host})
    assert answer.status_code == 403
    assert "its Host is not this machine" in answer.text


@pytest.mark.parametrize("host", ["127.0.0.1:4321", "localhost:4321", "[::1]:4321"])
def test_this_machine_is_let_in(app, host):
    cookie = f"skdisc-app-4321={app.gate.cookie}"
    assert stranger(app).get("/", headers={"host": host, "cookie": cookie}).status_code == 200


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        ({}, "does not say from which page"),
        ({"origin": "null"}, "another page"),
        ({"origin": "http://evil.example"}, "another page"),
        ({"origin": "http://127.0.0.1:4322"}, "another page"),
        ({"origin": "http://localhost:4321"}, "another page"),
        ({"origin": "https://127.0.0.1:4321"}, "another page"),
        ({"origin": HOME + "/"}, "another page"),
        ({"origin": ""}, "another page"),
        ({"sec-fetch-site": "cross-site"}, "another site"),
        ({"sec-fetch-site": "same-site", "origin": HOME}, "another site"),
        ({"sec-fetch-site": "none"}, "another site"),
        ({"sec-fetch-site": "same-origin", "origin": "http://evil.example"}, "another page"),
        ({"sec-fetch-site": "cross-site", "origin": "null"}, "another site"),
    ],
)
def test_a_request_of_another_page_is_refused(app, headers, reason):
    for name in ("origin", "sec-fetch-site"):
        del app.client.headers[name]
    answer = app.client.post("/files", files={"file": ("a.csv", b"a\n1\n")}, headers=headers)
    assert answer.status_code == 403
    assert reason in answer.text
    assert not app.pages.studies


def test_headers_that_come_twice_are_refused(app):
    import httpx2

    cookie = ("cookie", f"skdisc-app-4321={app.gate.cookie}")
    own = [("origin", HOME), ("sec-fetch-site", "same-origin")]
    client = stranger(app)
    for name in ("origin", "sec-fetch-site"):
        del client.headers[name]

    def status(*headers):
        return client.post("/files/x/delete", headers=httpx2.Headers([*headers])).status_code

    assert status(cookie, *own) == 404  # let in; there is no such file
    assert status(cookie, own[0]) == status(cookie, own[1]) == 404
    assert status(cookie, own[1], ("origin", "null")) == 404  # as Chromium sends it here
    for pair in own:
        assert status(cookie, *own, pair) == 403
    assert status(cookie, cookie, *own) == 403
    assert status(("cookie", cookie[1] + "x"), *own) == 403
    twice = httpx2.Headers([("host", "127.0.0.1:4321"), ("host", "evil.example"), cookie])
    assert client.get("/", headers=twice).status_code == 403


def test_websockets_are_closed(app):
    from starlette.websockets import WebSocketDisconnect

    with pytest.raises(WebSocketDisconnect), app.client.websocket_connect("/"):
        pass


def test_every_answer_is_locked_in(app):
    for answer in (
        *(app.client.get(p) for p in ("/", "/nowhere", "/static/app.js", "/files/x")),
        app.client.get("/", headers={"host": "evil.example"}),
        app.client.put("/"),
        app.client.post("/files/x", content=b"x" * 3_000_000),
    ):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in answer.headers
        assert "Traceback" not in answer.text


def test_pages_have_no_script_or_style_within(app):
    page = app.client.get("/").text
    assert not re.search(r"<script(?! src=\"/static/)|<style|\sstyle=|\son\w+=|javascript:", page)
    assert not re.search(r"https?://", page)


# what is on the disk


def left_folders(tmp):
    return sorted(p.name for p in tmp.glob("skdisc-app-*"))


def test_an_address_that_is_told_takes_connections():
    import socket

    from skdisc.app._serve import _listening

    with _listening(0) as listening:
        socket.create_connection(listening.getsockname(), timeout=5).close()


@pytest.fixture
def started(tmp_path):
    """Return a function that starts the command, and waits until it listens."""
    processes = []
    tmp = tmp_path / "private"
    tmp.mkdir()

    def start(*more):
        command = [sys.executable, "-m", "skdisc", "app", "--no-browser", *more]
        how = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        process = subprocess.Popen(command, env=os.environ | {"TMPDIR": str(tmp)}, **how)
        processes.append(process)
        address = None
        for line in process.stdout:
            if found := re.search(r"http://\S+", line):
                address = found[0]
                break
        return process, address, tmp

    yield start
    for process in processes:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_folder_is_deleted_at_the_end(started, number):
    process, _, tmp = started()
    (name,) = left_folders(tmp)
    assert (tmp / name).stat().st_mode & 0o777 == 0o700
    process.send_signal(number)
    assert process.wait(timeout=20) == 0
    assert not left_folders(tmp)


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.slow
def test_what_a_killed_app_left_is_deleted_at_the_next_start(started):
    process, _, tmp = started()
    (left,) = left_folders(tmp)
    process.kill()
    process.wait()
    assert left_folders(tmp) == [left]
    _, _, _ = started()
    (now,) = left_folders(tmp)
    assert now != left
    started()  # a third one leaves what is in use
    assert now in left_folders(tmp)
    assert len(left_folders(tmp)) == 2


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.slow
def test_audits_and_readers_end_with_a_killed_app(started):
    import httpx2

    process, address, _ = started()
    home = address.partition("/?")[0]
    how = {"base_url": home, "headers": {"origin": home}, "follow_redirects": True}
    with httpx2.Client(**how, timeout=60) as client:
        client.get(address)
        text = "sex,x,hired\n" + "f,1,no\nm,2,yes\nm,3,no\nf,4,yes\n" * 30_000
        file = client.post("/files", files={"file": ("a.csv", text.encode())}).url.path
        file = file.removesuffix("/columns")
        client.post(f"{file}/columns", data={"target": "hired"})
        more = {"target": "hired", "favorable": "yes", "role-0": "protected"}
        client.post(f"{file}/columns", data=more)
        audit = client.post(f"{file}/question", data={"run": "1"}).url.path
        assert audit.startswith("/audits/")
    below = children(process.pid)
    assert len(below) >= 2
    process.kill()
    process.wait()
    until = time.monotonic() + 10
    while any(map(runs, below)) and time.monotonic() < until:
        time.sleep(0.1)
    assert not [pid for pid in below if runs(pid)]


@pytest.mark.slow
def test_a_file_to_begin_with_and_a_browser_that_goes_away(started, tmp_path):
    import socket

    import httpx2

    (tmp_path / "people.csv").write_text("sex,hired\nf,no\nm,yes\n")
    process, address, tmp = started("--data", str(tmp_path / "people.csv"))
    home = address.partition("/?")[0]
    how = {"base_url": home, "headers": {"origin": home}, "follow_redirects": True}
    with httpx2.Client(**how, timeout=60) as client:
        client.get(address)
        answer = client.get("/")
        assert answer.url.path.startswith("/files/")
        assert "people.csv" in answer.text
        cookies = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
        port = int(home.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as half:
            half.sendall(
                f"POST /files HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: {cookies}\r\n"
                f"Origin: {home}\r\nContent-Type: multipart/form-data; boundary=b\r\n"
                "Content-Length: 100000\r\n\r\n--b\r\nContent-Disposition: form-data; "
                'name="file"; filename="a.csv"\r\n\r\na,b\n1,2\n'.encode()
            )
            until = time.monotonic() + 20
            while not list(tmp.glob("*/file-*/data.csv")) and time.monotonic() < until:
                time.sleep(0.05)
            assert list(tmp.glob("*/file-*/data.csv"))
        while list(tmp.glob("*/file-*")) and time.monotonic() < until:
            time.sleep(0.05)
        assert not list(tmp.glob("*/file-*"))
        assert client.get("/").status_code == 200
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    process.wait(timeout=20)
    assert (tmp_path / "people.csv").is_file()  # it is not the app's


def children(pid):
    """Return the processes below a process."""
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        own = [int(text) for text in file.read().split()]
    return own + [below for child in own for below in children(child)]


def runs(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_the_browser_gets_the_token_by_a_private_file(app, monkeypatch, tmp_path):
    from skdisc.app import _serve

    opened, told = [], []
    monkeypatch.setattr(_serve.webbrowser, "open", lambda uri: opened.append(uri) or True)
    path = tmp_path / "open.html"
    app.gate.spent = False
    _serve._let_in(app.gate, path, True, told.append)
    assert opened == [path.as_uri()]
    assert path.stat().st_mode & 0o777 == 0o600
    assert app.gate.token in path.read_text()
    assert app.gate.token not in "".join([*opened, *told])
    app.client.get("/")
    assert not path.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--max-upload", "much"], "--max-upload 'much' is no size such as 600MB"),
        (["--max-upload", "0"], "--max-upload '0' is no size"),
        (["--data", "nowhere.csv"], "There is no file 'nowhere.csv'"),
        (["--port", "99999999"], "--port 99999999 cannot be used"),
        (["--port", "-1"], "--port -1 cannot be used"),
    ],
)
def test_options_of_the_command(arguments, message, capsys):
    from skdisc import cli

    assert cli.main(["app", *arguments]) == cli.USAGE
    assert message in capsys.readouterr().err


def test_a_package_that_is_missing_is_named(monkeypatch, capsys):
    from skdisc import cli

    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert cli.main(["app"]) == cli.USAGE
    assert 'pip install "skdisc[app]"' in capsys.readouterr().err
