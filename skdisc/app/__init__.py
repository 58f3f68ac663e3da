"""`skdisc app`: an audit in the browser of this machine, for those who do not type commands.

The app asks, and runs the command `skdisc audit` in a process of its own. What it says about a
file, its columns and its answers comes from the functions of the command line.
"""

from skdisc.app._serve import serve

__all__ = ["serve"]
