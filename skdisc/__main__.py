"""The command ``skdisc``, also ``python -m skdisc``: interrupted at any time, it says so."""

import sys


def main():
    """Run the command line and return the exit code; what is slow to load is loaded here."""
    try:
        from skdisc import cli

        return cli.main()
    except KeyboardInterrupt:
        sys.stderr.write("skdisc: error: interrupted; no file was left half written\n")
        return 4


if __name__ == "__main__":
    sys.exit(main())
