from bench.text import MISSING
from tools.regret_figures import AtRate, OverBest, Traffic, chosen, worst


def traffic(*ratios):
    rates = tuple(
        AtRate(rate, (1.0, 1.1), (3, 3), (1.0, 1.0), (0.0, 0.0), {"a": OverBest(of_rate)})
        for rate, of_rate in zip((10, 100), ratios, strict=True)
    )
    return Traffic("steady", "make it", 60, ("1", "2"), rates)


def test_a_ratio_is_a_mean_with_the_worst_beside_it():
    assert OverBest((1.1, 1.3)).text == "1.20 (1.30)"
    assert OverBest((1.1001, 1.1002)).text == "1.10"
    assert OverBest((1.1, None)).text == MISSING
    assert OverBest((), ()).text == MISSING


def test_the_worst_is_over_rates_and_streams_and_unknown_if_one_is():
    made = [traffic((1.0, 1.2), (1.1, 1.1)), traffic((1.0, 1.0), (1.0, 1.25))]
    assert worst(made, "a") == "1.25"
    assert worst([*made, traffic((1.0, 1.0), (None, 1.0))], "a") == MISSING


def test_settings_that_were_chosen_are_those_of_all_streams_at_a_rate():
    chosen_at = ({10: ("count files=99", "count files=131")}, {10: ("count files=94",), 100: ("x=5",)})
    made = [
        Traffic("steady", "make it", 60, ("1", "2"), tuple(
            AtRate(rate, (), (), (), (), {"a": OverBest((1.0, 1.0), settings)})
            for rate, settings in of_traffic.items()
        ))
        for of_traffic in chosen_at
    ]  # fmt: skip
    assert (chosen(made, "a", 10), chosen(made, "a", 100)) == ("94 to 131", "5 to 5")


def test_streams_differ_by_the_best_schedule_s_extra_cpu():
    assert traffic((1.0,), (1.0,)).differ_by == "10 %"
