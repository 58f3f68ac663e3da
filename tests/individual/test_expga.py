"""ExpGA: what its generations breed from."""

from searches import (
    Loan,
    applicants,
)

from skdisc.individual import ExpGA


def test_expga_breeds_from_the_largest_effects(search_only):
    X = applicants()
    settings = {"protected": "sex", "n_population": 20, "n_draws": 200, "random_state": 0}
    draws = ExpGA(n_generations=0, **settings).fit(X, model=Loan()).result_
    bred = ExpGA(n_generations=20, **settings).fit(X, model=Loan()).result_
    assert draws.n_tested <= 200
    later = (bred.n_found - draws.n_found) / (bred.n_tested - draws.n_tested)
    assert later > 1.5 * draws.metrics["SUR"]
    by_hits = ExpGA(n_generations=1, mutation=0.0, fitness="hit", **settings)
    decided = by_hits.fit(X, model=Loan()).result_
    assert decided.n_queries == 2 * decided.n_tested  # no question but the tests
    assert bred.n_queries == 4 * bred.n_tested
