from bench.names import known_text


def test_known_text_puts_the_nearest_first():
    assert known_text("evry", ["after", "every"]) == 'did you mean "every"? known: every, after'
    assert known_text("zzz", ["after", "every"]) == "known: after, every"
