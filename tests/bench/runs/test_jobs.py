from hypothesis import given
from hypothesis import strategies as st

from bench.runs.jobs import SentScenario

DATES = st.dates() | st.datetimes() | st.times()
SCALARS = st.text() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
DOCUMENTS = st.dictionaries(
    st.text(),
    st.recursive(SCALARS | DATES, lambda v: st.lists(v) | st.dictionaries(st.text(), v), max_leaves=8),
)


@given(DOCUMENTS)
def test_a_document_arrives_as_it_was_sent(document):
    sent = SentScenario(file="demo.toml", document=document, variant=None)
    assert SentScenario.model_validate_json(sent.model_dump_json()).document == document
