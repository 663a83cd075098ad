from reports.phrases import Sentence, Verbatim, listed, say, sentence, spanned


def test_a_sentence_keeps_verbatim_values_apart_from_words():
    made = sentence("{who} takes {time}: {n}.", who=listed(["{a}", "b"]), time="3 s", n=Verbatim("3"))
    assert made == Sentence((Verbatim("{a}"), " and ", Verbatim("b"), " takes 3 s: ", Verbatim("3"), "."))
    assert [isinstance(part, Verbatim) for part in made.parts] == [True, False, True, False, True, False]


def test_an_empty_value_leaves_no_part():
    assert sentence("It is {more}so{end}.", more="", end=say()) == say("It is so.")


def test_a_range_names_who_has_its_ends():
    ends = spanned([("a", 3.0, "3 s"), ("b", 1.0, "1 s"), ("c", 1.0, "1 s"), ("d", 2.0, "2 s")])
    assert str(ends) == "1 s (b and 1 other) to 3 s (a)"
    assert str(spanned([("a", 1.0, "1 s"), ("b", 1.0, "1 s"), ("c", 1.0, "1 s")])) == "1 s (a and 2 others)"
