"""Pictures of results. Needs the extra ``plot``."""

from skdisc.plotting._effectiveness_cost import EffectivenessCostDisplay

__all__ = ["EffectivenessCostDisplay"]
