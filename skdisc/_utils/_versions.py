"""Versions of Python and of the packages that numbers come from."""

import platform


def versions():
    """Return the versions of Python and of the packages that numbers come from, a dict of str."""
    import numpy
    import pandas
    import scipy
    import sklearn

    from skdisc import __version__

    packages = {"numpy": numpy, "scipy": scipy, "pandas": pandas, "scikit-learn": sklearn}
    own = {"skdisc": __version__, "python": platform.python_version()}
    return own | {name: package.__version__ for name, package in packages.items()}
