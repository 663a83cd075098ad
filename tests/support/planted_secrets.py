"""Secrets of many kinds, as the keys of a scenario hold them; each begins with `Zq7-` and has a number."""

import json
import re

import duckdb
import pyarrow.parquet as pq

# Where secrets stand in scenarios: the table, the key, and the value, each with another secret.
KINDS = [
    ("spark", "spark.hadoop.fs.s3a.secret.key", "Zq7-01"),
    ("spark", "spark.hadoop.fs.s3a.access.key", "Zq7-02"),
    ("spark", "spark.hadoop.fs.s3a.session.token", "Zq7-03"),
    ("spark", "spark.hadoop.fs.azure.account.key.acct.dfs.core.windows.net", "Zq7-04=="),
    ("spark", "spark.hadoop.fs.azure.account.oauth2.client.secret", "Zq7-05"),
    ("spark", "spark.hadoop.fs.azure.sas.container.acct.blob.core.windows.net", "sv=2024&sig=Zq7-06%3D"),
    ("spark", "spark.hadoop.fs.gs.auth.service.account.private.key",
     "-----BEGIN PRIVATE KEY-----\nZq7-07\nZq7-08\n-----END PRIVATE KEY-----"),
    ("spark", "spark.ssl.keyPassword", "Zq7-09"),
    ("spark", "spark.ssl.trustStorePassword", "Zq7-10"),
    ("spark", "spark.authenticate.secret", "Zq7-11"),
    ("spark", "spark.executorEnv.AWS_SECRET_ACCESS_KEY", "Zq7-12"),
    ("spark", "spark.executorEnv.DB_PWD", "Zq7-13"),
    ("spark", "spark.executorEnv.API_KEY", "Zq7-14"),
    ("spark", "spark.kafka.sasl.jaas.config", 'Module required username="me" password="Zq7-15";'),
    ("spark", "spark.hadoop.connection", "jdbc:postgresql://host/db?user=me&password=Zq7-16"),
    ("spark", "spark.hadoop.proxy", "http://me:Zq7-18@proxy:3128"),
    ("spark", "spark.my.options", "-Duser.timezone=UTC -Dhttp.proxyPassword=Zq7-19"),
    ("spark", "spark.hadoop.storage",
     "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=Zq7-20==;EndpointSuffix=core.windows.net"),
    ("spark", "spark.hadoop.bus", "Endpoint=sb://x/;SharedAccessKeyName=n;SharedAccessKey=Zq7-21="),
    ("spark", "spark.hadoop.header", "Authorization: Bearer Zq7-22-and-more-of-it"),
    ("spark", "spark.hadoop.git", "https://Zq7-23-a-token-of-40-letters@git.example/x"),
    ("spark", "spark.hadoop.settings", '{"client_secret": "Zq7-24", "client_id": "public"}'),
    ("catalog.properties", "token", "Zq7-25"),
    ("catalog.properties", "credential", "client:Zq7-26"),
    ("catalog.properties", "s3.secret-access-key", "Zq7-27"),
    ("catalog.properties", "s3.session-token", "Zq7-28"),
    ("catalog.properties", "adls.connection-string", "AccountName=a;AccountKey=Zq7-29="),
    ("catalog.properties", "gcs.service-account-json", '{"private_key": "Zq7-30"}'),
    ("catalog.properties", "header.X-Api-Key", "Zq7-31"),
    ("catalog.properties", "jdbc.password", "Zq7-32"),
    ("catalog.properties", "uri", "https://me:Zq7-33@host/x"),
    ("catalog.properties", "ssl.truststore.passphrase", "Zq7-34"),
    ("table.properties", "write.encryption-key", "Zq7-35"),
    ("table.properties", "my.passcode", "Zq7-36"),
    ("table.properties", "my.url", "https://host/x?X-Amz-Signature=Zq7-37&X-Amz-Date=1"),
]  # fmt: skip

PLANTED_SECRETS = frozenset(found for _, _, value in KINDS for found in re.findall(r"Zq7-\d\d", value))


def planted_tables(**more):
    """The tables of a scenario with all of these keys, and others before them: catalog_properties={...}."""
    return "\n".join(
        f"[{table}]\n"
        + "".join(
            f"{json.dumps(key)} = {json.dumps(value)}\n"
            for key, value in {
                **more.get(table.replace(".", "_"), {}),
                **{key: value for at, key, value in KINDS if at == table},
            }.items()
        )
        for table in ("spark", "catalog.properties", "table.properties")
    )


def texts_below(folder):
    """Every file of a folder as text, those that are compressed unpacked."""
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        if file.suffix == ".parquet":
            yield file, str(pq.read_table(file).to_pylist())
        elif file.suffix == ".duckdb":
            with duckdb.connect(file, read_only=True) as database:
                tables = [name for (name,) in database.sql("SHOW TABLES").fetchall()]
                rows = [database.sql(f"FROM {name}").fetchall() for name in tables]
            yield file, str(rows)
        else:
            yield file, file.read_bytes().decode(errors="replace")
