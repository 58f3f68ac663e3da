"""Transformers of data: what situation tests, causal models and bins say, as columns and rows."""

from skdisc.preprocessing._counterfactual_sampler import CounterfactualRows
from skdisc.preprocessing._discretizer import Discretizer
from skdisc.preprocessing._proxy_selector import ProxySelector
from skdisc.preprocessing._situation_features import SituationFeatures
from skdisc.preprocessing._surname_geocoding import SurnameGeocoding

__all__ = [
    "CounterfactualRows",
    "Discretizer",
    "ProxySelector",
    "SituationFeatures",
    "SurnameGeocoding",
]
