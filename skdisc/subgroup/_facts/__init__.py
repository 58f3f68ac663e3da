"""FACTS: subgroups in which one group can change its fate less easily than another."""

from skdisc.subgroup._facts._actions_and_costs import Actions, Costs
from skdisc.subgroup._facts._facts import FACTS

__all__ = ["FACTS", "Actions", "Costs"]
