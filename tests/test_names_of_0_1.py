"""Every name that could be imported from version 0.1 can be imported now."""

from importlib import import_module

import pytest

NAMES = {
    "skdisc": """
        AuditResult BlackBox Budget Case FeatureSpace Finding Predicate Subgroup all_detectors
        benchmark causal datasets exceptions group individual measures plotting repair report
        subgroup testing
    """,
    "skdisc.base": """
        BaseDetector
    """,
    "skdisc.benchmark": """
        BenchmarkResult Target default_detectors default_grids match_cases match_groups replicate
        run_benchmark run_protocol targets_of tune_detectors write_article
    """,
    "skdisc.causal": """
        CounterfactualTargets StructuralCausalModel sensitivity_worlds
    """,
    "skdisc.cli": """
        main
    """,
    "skdisc.datasets": """
        Attribute Effect GaussianCopula Schema Truth fetch_acs_income fetch_ad_campaign
        fetch_adult fetch_bank fetch_compas fetch_german fetch_law_school fetch_ssl
        make_discrimination make_hiring make_loan make_ranking_discrimination plant_bias
        schema_from_frame
    """,
    "skdisc.exceptions": """
        ModelError RefitWarning SkdiscWarning SurrogateWarning UndefinedMeasureWarning
    """,
    "skdisc.group": """
        GroupDisparity VeriFair
    """,
    "skdisc.individual": """
        ADF Aequitas BoundarySearch CounterfactualFairness CounterfactualSituationTesting EIDIG
        ExactTree ExpGA FlipTest KOSEI LIMI SG SituationTesting Themis
    """,
    "skdisc.measures": """
        DisparityScorer area_under_curve area_under_curve_report average_odds_difference
        average_odds_difference_report balance_negative_class balance_negative_class_report
        balance_positive_class balance_positive_class_report balanced_error_rate
        balanced_error_rate_report balanced_residuals balanced_residuals_report belift
        belift_report calibration_difference calibration_difference_report
        calibration_within_groups calibration_within_groups_report catalogue cluster_strata
        cochran_mantel_haenszel_test cochran_mantel_haenszel_test_report conditional_impact_ratio
        conditional_impact_ratio_report consistency consistency_report correlation
        correlation_report difference_of_means_test difference_of_means_test_report disparities
        elift elift_report equal_opportunity equal_opportunity_report equalized_odds
        equalized_odds_report eta_neutrality eta_neutrality_report get_scorer get_scorer_names
        group_rates impact_ratio impact_ratio_report lipschitz_ratio lipschitz_ratio_report
        many_proportions_test many_proportions_test_report mean_difference mean_difference_report
        mutual_information mutual_information_report normalized_difference
        normalized_difference_report odds_ratio odds_ratio_report one_variable_prediction
        one_variable_prediction_report predictive_parity predictive_parity_report
        propensity_strata propensity_stratified_difference propensity_stratified_difference_report
        rank_test rank_test_report regression_slope_test regression_slope_test_report
        situation_testing situation_testing_report stratified stratified_report twin_test
        twin_test_report two_proportions_test two_proportions_test_report unexplained_difference
        unexplained_difference_report
    """,
    "skdisc.plotting": """
        EffectivenessCostDisplay ForestDisplay LatticeDisplay SizeEffectDisplay WaterfallDisplay
        WorldsDisplay plot_case_counts plot_complainant plot_flipsets plot_groups plot_hierarchy
        plot_phases plot_transparency
    """,
    "skdisc.repair": """
        CaseResampler repair_report
    """,
    "skdisc.report": """
        check_format compare_cases to_html to_markdown to_text write
    """,
    "skdisc.subgroup": """
        BiasScan Bins DiscriminationPatterns DiscriminatoryRules DivExplorer FACTS FairNaiveBayes
        SliceFinder SliceLine
    """,
    "skdisc.testing": """
        assert_no_disparity assert_no_individual_discrimination individual_pairs individuals
        people replay
    """,
}


@pytest.mark.parametrize("module", NAMES)
def test_names_of_0_1_can_be_imported(module):
    found = import_module(module)
    assert [name for name in NAMES[module].split() if not hasattr(found, name)] == []
