import pytest

from bench.engines.delta.delta_rs import check_partitions, compact, writer_properties


@pytest.mark.parametrize(
    ("spark", "delta_rs"),
    [
        ("snappy", "SNAPPY"), ("SNAPPY", "SNAPPY"), ("lz4_raw", "LZ4_RAW"),
        ("none", "UNCOMPRESSED"), ("uncompressed", "UNCOMPRESSED"),
        ("gzip", "GZIP(6)"),  # zlib's default, which Java has as well
        ("zstd", "ZSTD(3)"),  # ParquetOutputFormat and ZstandardCodec of parquet-java: the level is 3
    ],
)  # fmt: skip
def test_a_codec_is_that_of_spark_at_its_level(spark, delta_rs):
    assert writer_properties(spark).compression == delta_rs


def test_a_codec_that_delta_rs_does_not_have_is_refused():
    with pytest.raises(ValueError, match="LZO"):
        writer_properties("lzo")


@pytest.mark.parametrize("value", ["São Paulo", "~", "a\u0301"])
def test_a_value_whose_path_spark_writes_differently_is_refused(value):
    with pytest.raises(ValueError, match="user_city"):
        check_partitions([{"day": "2026-01-01"}, {"user_city": value}])


def test_other_values_are_accepted():
    check_partitions([{"user_city": None}, {"user_city": "a b/%#?:[]"}, {}])


def test_an_error_of_delta_rs_is_a_value_error(tmp_path):
    with pytest.raises(ValueError, match="delta-rs: "):
        compact(str(tmp_path), None, None, "zstd", 2)
