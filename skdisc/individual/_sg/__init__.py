"""SG: symbolic generation of inputs from the paths of a surrogate tree."""

from skdisc.individual._sg._sg import SG

__all__ = ["SG"]
