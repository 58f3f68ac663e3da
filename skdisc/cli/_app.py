"""The command `skdisc app`: an audit in the browser."""

import argparse

from skdisc.cli._say import say


def add_app(commands: argparse._SubParsersAction) -> None:
    app = commands.add_parser("app", help="audit a table in the browser, without commands")
    app.set_defaults(run=_app)
    add = app.add_argument
    add("--port", type=int, default=0, metavar="N", help="default: one that is free")
    add("--no-browser", action="store_true", help="tell the address, and open no browser")
    add("--data", metavar="FILE", help="a table to begin with; it is not copied")
    add("--max-upload", default="600MB", metavar="SIZE", help="largest file (%(default)s)")


def _app(arguments):
    """Serve the app until it is interrupted."""
    from skdisc.app import serve

    def tell(text):
        say(text)
        say.flush()

    serve(
        port=arguments.port,
        browser=not arguments.no_browser,
        data=arguments.data,
        most_upload=arguments.max_upload,
        tell=tell,
    )
    return 0
