"""Import of optional packages."""

from importlib import import_module


def require(module, *, extra, purpose):
    """Return the imported `module`, or raise an ImportError that names the extra to install.

    Parameters
    ----------
    module : str
        Dotted name of the module.
    extra : str
        Name of the skdisc extra that installs it.
    purpose : str
        What it is needed for, a noun phrase that starts the message.

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
