"""The command ``skdisc``, also ``python -m skdisc``; reports an interruption at any stage."""

import sys

from skdisc._utils._interruption import INTERRUPTED, hold


def main() -> int:
    """Run the command line and return the exit code; slow imports happen inside."""
    if sys.argv[1:2] in (["audit"], ["demo"]):
        hold()  # a page says what there is, even if that is little
    try:
        from skdisc import cli

        return cli.main()
    except KeyboardInterrupt:
        sys.stderr.write("skdisc: error: interrupted; no incomplete file was left behind\n")
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
