"""Assertions, checks of detectors, replay of inputs, hypothesis strategies (extra ``testing``)."""

from importlib import import_module

__all__ = [
    "assert_no_disparity",
    "assert_no_individual_discrimination",
    "check_detector",
    "detector_checks",
    "individual_pairs",
    "individuals",
    "people",
    "replay",
]
_HOMES = {  # loaded at first use: the plugin of pytest is loaded with every session
    "assert_no_disparity": "_asserts",
    "assert_no_individual_discrimination": "_asserts",
    "check_detector": "_detector_checks",
    "detector_checks": "_detector_checks",
    "individual_pairs": "_strategies",
    "individuals": "_strategies",
    "people": "_strategies",
    "replay": "_replay",
}


def __getattr__(name):
    if name in _HOMES:
        return getattr(import_module(f"skdisc.testing.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'skdisc.testing' has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *__all__})
