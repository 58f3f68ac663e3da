"""Pictures of results. Needs the extra ``plot``."""

from skdisc.plotting._displays import (
    ForestDisplay,
    LatticeDisplay,
    SizeEffectDisplay,
    WaterfallDisplay,
)

__all__ = ["ForestDisplay", "LatticeDisplay", "SizeEffectDisplay", "WaterfallDisplay"]
