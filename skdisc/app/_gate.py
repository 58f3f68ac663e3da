"""Who may send requests: one browser on this machine, to this port, from pages of the app."""

import hmac
import secrets
from urllib.parse import parse_qs

COOKIE = "skdisc-app-{port}"
SAFE = ("GET", "HEAD")
HEADERS = {  # of every answer
    b"content-security-policy": (
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        b"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"cache-control": b"no-store",
}
_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
{refresh}<title>skdisc</title></head><body><main><h1>skdisc</h1><p>{text}</p></main></body></html>
"""
_REFRESH = '<meta http-equiv="refresh" content="0; url=/">'
_OTHER_BROWSER = (
    "This browser may not use the app: it is open in another one, or the session has ended. "
    "Each start of <code>skdisc app</code> lets in one browser, the first that opens its address. "
    "End the command with Ctrl-C and start it again."
)
_REFUSED = "The request was refused: {}."


class Gate:
    """The outermost ASGI application: refuses what does not come from the app's own browser.

    It reads the raw scope. Host has to be this machine with this port, so that no other name leads
    here (DNS rebinding); the cookie has to be the one that was set; a request that changes
    something has to come from a page of the app. The cookie is set by the address with the token,
    until a request has brought the cookie back; then the token is spent.

    Parameters
    ----------
    app : ASGI application
    port : int
        Where the app listens.

    Attributes
    ----------
    token : str
        Random; in the address that sets the cookie.
    spent : bool
        Whether the cookie has come back.
    """

    def __init__(self, app, port: int) -> None:
        self.app, self.port = app, port
        self.token = secrets.token_urlsafe(32)
        self.cookie, self.spent, self.when_spent = secrets.token_urlsafe(32), False, None
        names = ("127.0.0.1", "[::1]", "localhost")
        self._hosts = {f"{name}:{port}".encode() for name in names}
        self._name = COOKIE.format(port=port)

    @property
    def address(self) -> str:
        """The address that lets a browser in, once."""
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    async def __call__(self, scope, receive, send) -> None:
        """Pass a request on, or answer 403."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        reason = self._wrong_host(scope)
        is_ours = reason is None and self._has_cookie(scope)
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
        elif reason is not None:
            await _answer(send, 403, _REFUSED.format(reason))
        elif not is_ours and self._has_token(scope):
            value = f"{self._name}={self.cookie}; Path=/; HttpOnly; SameSite=Strict"
            text = 'The app opens. If it does not: <a href="/">open it</a>.'
            await _answer(send, 200, text, _REFRESH, [(b"set-cookie", value.encode())])
        elif not is_ours:
            await _answer(send, 403, _OTHER_BROWSER)
        elif (reason := self._foreign(scope)) is not None:
            await _answer(send, 403, _REFUSED.format(reason))
        else:
            if not self.spent:
                self.spent = True
                if self.when_spent is not None:
                    self.when_spent()
            await self.app(scope, receive, _with_headers(send))

    def _wrong_host(self, scope):
        """Return what is wrong with the host of a request; None if nothing is."""
        if len(hosts := _values(scope, b"host")) != 1 or hosts[0] not in self._hosts:
            return "its Host is not this machine with the port of the app"
        return None

    def _has_cookie(self, scope):
        """Return whether a request has the cookie, and no second one of its name."""
        several = [part for value in _values(scope, b"cookie") for part in value.split(b";")]
        name = self._name.encode() + b"="
        cookies = [part.strip()[len(name) :] for part in several if part.strip().startswith(name)]
        return len(cookies) == 1 and hmac.compare_digest(cookies[0], self.cookie.encode())

    def _has_token(self, scope):
        """Return whether a request opens the address with the token, which is not spent."""
        if self.spent or scope["method"] != "GET" or scope["path"] != "/":
            return False
        tokens = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
        return len(tokens) == 1 and hmac.compare_digest(tokens[0].encode(), self.token.encode())

    def _foreign(self, scope):
        """Return why a request that may change something is not from a page of the app, or None."""
        if scope["method"] in SAFE:
            return None
        sites, origins = _values(scope, b"sec-fetch-site"), _values(scope, b"origin")
        if len(sites) > 1 or len(origins) > 1 or not (sites or origins):
            return "it does not say from which page it comes"
        if sites and sites[0] != b"same-origin":
            return "it comes from another site"
        # with the policy no-referrer browsers send Origin: null, and Sec-Fetch-Site tells
        app_origin = b"http://" + _values(scope, b"host")[0]
        if origins and origins[0] not in ((app_origin, b"null") if sites else (app_origin,)):
            return "it comes from another page"
        return None


def _values(scope, name):
    """Return the values of a header, each as bytes."""
    return [value for key, value in scope["headers"] if key.lower() == name]


def _with_headers(send):
    """Return a `send` that adds the headers of every answer, unless the answer has its own."""

    async def sent(message):
        if message["type"] == "http.response.start":
            headers = list(message.get("headers", []))
            names = {key.lower() for key, _ in headers}
            headers += [pair for pair in HEADERS.items() if pair[0] not in names]
            message = message | {"headers": headers}
        await send(message)

    return sent


async def _answer(send, status, text, refresh="", headers=()):
    """Answer with a short page."""
    body = _PAGE.format(refresh=refresh, text=text).encode()
    about = [(b"content-type", b"text/html; charset=utf-8"), *headers]
    about.append((b"content-length", str(len(body)).encode()))
    start = {"type": "http.response.start", "status": status, "headers": about}
    await _with_headers(send)(start)
    await send({"type": "http.response.body", "body": body})
