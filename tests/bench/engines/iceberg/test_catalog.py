from types import SimpleNamespace

from bench.engines.iceberg import catalog as catalogs
from bench.engines.iceberg.catalog import Catalog


def test_metadata_is_read_with_what_the_catalog_has_vended(tmp_path, monkeypatch):
    vended = {"s3.access-key-id": "vended", "s3.session-token": "for an hour"}
    current = SimpleNamespace(metadataFileLocation=lambda: "s3://bucket/orders/metadata/v3.json")
    table = SimpleNamespace(
        io=lambda: SimpleNamespace(properties=lambda: vended),
        operations=lambda: SimpleNamespace(current=lambda: current),
    )
    monkeypatch.setattr(catalogs, "java_table", lambda spark, name: table)
    monkeypatch.setattr(catalogs.StaticTable, "from_metadata", lambda location, known: (location, known))
    given = {"type": "rest", "s3.access-key-id": "given", "s3.region": "x"}
    load = Catalog(tmp_path, "mine", "bench_r1", given).loader(None, "orders")
    location, known = load()
    assert location == "s3://bucket/orders/metadata/v3.json"
    assert known == {"type": "rest", "s3.region": "x", **vended}
