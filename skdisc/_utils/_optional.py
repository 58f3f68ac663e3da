"""Other packages: import of optional ones, and the versions that numbers come from."""

import platform
from importlib import import_module


def require(module, *, extra, purpose):
    """Return the imported `module`, or raise an ImportError that names the extra to install.

    `module`: dotted name of the module. `extra`: name of the skdisc extra that installs it.
    `purpose`: what it is needed for, a noun phrase that starts the message.

    Examples
    --------
    >>> require("json", extra="report", purpose="reports").dumps(1)
    '1'
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(
            f"{purpose} needs the package {package!r}, which is not installed. "
            f'Install it with: pip install "skdisc[{extra}]"'
        ) from error


def versions():
    """Return the versions of Python and of the packages that numbers come from, a dict of str."""
    import numpy
    import pandas
    import scipy
    import sklearn

    from skdisc import __version__

    packages = {"numpy": numpy, "scipy": scipy, "pandas": pandas, "scikit-learn": sklearn}
    return {
        "skdisc": __version__,
        "python": platform.python_version(),
        **{name: package.__version__ for name, package in packages.items()},
    }
