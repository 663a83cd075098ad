from bench.names import known_text


def test_known_text_puts_the_nearest_first():
    assert known_text("evry", ["after", "every"]) == 'did you mean "every"? known: every, after'
    assert known_text("zzz", ["after", "every"]) == "known: after, every"


def test_of_many_names_those_alike_are_listed_and_the_others_counted():
    many = [f"figure_{n}" for n in range(40)]
    assert known_text("cpu", [*many, "commit_cpu_s", "cpu"]) == (
        'did you mean "cpu"? known: cpu, commit_cpu_s and 40 others'
    )
    assert known_text("zzz", many) == f"known: {', '.join(sorted(many))}"
