from reports.phrases import Sentence, Verbatim, listed, say, sentence


def test_a_sentence_keeps_verbatim_values_apart_from_words():
    made = sentence("{who} takes {time}: {n}.", who=listed(["{a}", "b"]), time="3 s", n=Verbatim("3"))
    assert made == Sentence((Verbatim("{a}"), " and ", Verbatim("b"), " takes 3 s: ", Verbatim("3"), "."))
    assert [isinstance(part, Verbatim) for part in made.parts] == [True, False, True, False, True, False]


def test_an_empty_value_leaves_no_part():
    assert sentence("It is {more}so{end}.", more="", end=say()) == say("It is so.")
