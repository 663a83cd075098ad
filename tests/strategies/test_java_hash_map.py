"""Java's HashMap. The expectations are what java.util.HashMap of Java 17 answered."""

from hypothesis import given
from hypothesis import strategies as st

from strategies.java_hash_map import HashMapKeys, collected, spread_hash

DAYS = [f"partition_day=2026-01-{day:02}" for day in range(1, 14)]
KEYS = st.lists(st.text(max_size=3), unique=True, max_size=60)


def filled(keys):
    keys_of_map = HashMapKeys()
    for key in keys:
        keys_of_map.compute_if_absent(key)
    return keys_of_map


def test_hashes_are_those_of_texts_folded():
    texts = ("", "a", "partition_day=2026-01-01", "\U0001d7cf")
    assert [spread_hash(text) for text in texts] == [0, 97, 142445029, 1773089]


def test_days_come_in_the_order_of_java():
    # 13 keys: the 13th is one too many for 16 buckets, and no call follows that would make the map grow.
    order = [day[-2:] for day in filled(DAYS)]
    assert " ".join(order) == "06 05 08 07 13 02 12 01 04 03 11 10 09"
    assert [day[-2:] for day in collected(filled(DAYS))] == order


def test_a_new_key_is_the_first_of_its_bucket():
    # AaAa, BBBB and AaBB have one hash.
    assert list(filled(["AaAa", "BBBB", "AaBB", "c"])) == ["c", "AaBB", "BBBB", "AaAa"]
    assert collected(["AaAa", "BBBB", "AaBB", "c"]) == ("c", "AaAa", "BBBB", "AaBB")


def test_a_copy_has_fewer_buckets():
    # Five keys in 16 buckets, and in 8 after putAll: int(5 / 0.75 + 1) = 7.
    keys = [f"p={name}" for name in "abcdz"]
    assert [key[-1] for key in filled(keys)] == list("badcz")
    assert [key[-1] for key in collected(filled(keys))] == list("bzadc")


def test_a_crowded_bucket_makes_a_small_map_grow():
    # Texts of "Aa" and "BB" have one hash. A and q (65 and 113) share the second of 16 buckets, the later one
    # first; the eighth key of another bucket doubles them, and A comes before q.
    alike = [f"{a}{b}{c}" for a in ("Aa", "BB") for b in ("Aa", "BB") for c in ("Aa", "BB")]
    assert [key for key in filled(["A", "q", *alike[:7]]) if key in "Aq"] == ["q", "A"]
    assert [key for key in filled(["A", "q", *alike]) if key in "Aq"] == ["A", "q"]


@given(KEYS)
def test_no_key_is_lost_or_doubled(keys):
    for ordered in (list(filled([*keys, *keys])), collected(keys)):
        assert sorted(ordered) == sorted(keys)


@given(KEYS, st.randoms(use_true_random=False))
def test_the_order_depends_on_that_of_insertion_within_a_bucket_alone(keys, random):
    # 16 buckets at least: keys in no common bucket of 16 come in one order, whatever came first.
    apart = list({spread_hash(key) % 16: key for key in keys}.values())[:12]
    assert list(filled(apart)) == list(filled(random.sample(apart, len(apart))))
