import json
import shlex
from urllib.parse import quote

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scenario_builder import SOUND, write

from bench.engines.keys import value_text
from bench.results.records import Manifest, Record
from bench.scenario.load import load_scenario
from bench.secrets import HIDDEN, NO_SECRETS, Secrets, hidden, hide, hide_setting, is_secret_key

SECRET_KEYS = [
    "token", "credential", "password", "secret", "pwd", "passwd", "passphrase", "api_key", "X-Api-Key",
    "spark.hadoop.fs.s3a.secret.key", "spark.hadoop.fs.s3a.access.key", "fs.s3a.session.token",
    "fs.s3a.encryption.key", "fs.s3a.server-side-encryption.key",
    "s3.access-key-id", "s3.secret-access-key", "s3.session-token", "s3.sse.key", "client.access-key-id",
    "fs.azure.account.key.acct.dfs.core.windows.net", "fs.azure.account.oauth2.client.secret",
    "fs.azure.sas.container.acct.blob.core.windows.net", "adls.sas-token.acct.dfs.core.windows.net",
    "adls.account-key", "adls.connection-string", "adls.auth.shared-key.account.key", "AccountKey",
    "SharedAccessKey", "SharedAccessSignature", "sig", "X-Amz-Signature", "X-Amz-Security-Token",
    "gcs.service-account-json", "gcs.oauth2.token", "gcs.encryption-key", "gcs.decryption-key",
    "fs.gs.auth.service.account.private.key", "private-key", "privateKey",
    "spark.ssl.keyPassword", "spark.ssl.keyStorePassword", "ssl.truststore.password", "ssl.keystore.key",
    "spark.authenticate.secret", "spark.executorEnv.AWS_SECRET_ACCESS_KEY", "DB_PWD", "VAULT_SECRET_ID",
    "spark.executorEnv.AWS_ACCESS_KEY_ID", "-Djavax.net.ssl.keyStorePassword", "-Dpassword",
    "spark.kafka.sasl.jaas.config", "parquet.encryption.key.list", "header.Authorization", "header.Cookie",
    "spark.redis.auth", "DBPASS", "PGPASS", "userpass", "storepass", "keypass", "GITHUB_PAT", "pswd",
    "token1", "Ocp-Apim-Subscription-Key", "x-functions-key", "aws.creds", "sslkey", "hmac.key", "SASKey",
    "jdbc.password", "user.pass", "clientsecret", "sastoken", 'catalog.properties."rest.token"',
]  # fmt: skip

# Names that are about a secret, name a file, a place, a class or a key of another kind.
PLAIN_KEYS = [
    "spark.sql.shuffle.partitions", "spark.master", "spark.sql.session.timeZone",
    "write.parquet.compression-codec", "key", "keys", "key_lookup", "primary-key", "partition-keys",
    "sort-key", "distribution-key", "data-key-columns", "monkey", "compaction", "tokenizer", "bypass",
    "warehouse", "uri", "s3.endpoint", "s3.sse.type", "rest.sigv4-enabled", "hive.metastore.uris",
    "jdbc.user", "client-id", "adls.account-name", "adls.auth.shared-key.account.name",
    "token-refresh-enabled", "token-expires-in-ms", "oauth2-server-uri", "gcs.oauth2.token-expires-at",
    "spark.hadoop.fs.s3a.aws.credentials.provider", "hadoop.security.credential.provider.path",
    "spark.security.credentials.hive.enabled", "fs.azure.sas.token.provider.type.acct.dfs.core.windows.net",
    "fs.gs.auth.service.account.json.keyfile", "spark.ssl.keyStore", "ssl.truststore.location",
    "password-file", "spark.io.encryption.keySizeBits", "spark.io.encryption.enabled", "encryption.key-id",
    "private-key-id", "parquet.encryption.footer.key", "parquet.encryption.column.keys",
    "spark.redis.auth.type", "compass", "trespass", "path", "compat", "design", "ssl.key.location",
    "spark.ssl.keyStoreType", "function", "session.keys", "author", "oauth",
    "spark.redaction.regex", "spark.authenticate", "rows_per_commit", "target_file_size",
]  # fmt: skip


@pytest.mark.parametrize("key", SECRET_KEYS)
def test_a_key_that_holds_a_secret(key):
    assert is_secret_key(key)
    assert hidden({key: "x"}) == {key: HIDDEN}
    assert hide_setting(f"{key}=a b;c,d&e") == f"{key}={HIDDEN}"


@pytest.mark.parametrize("key", PLAIN_KEYS)
def test_a_key_that_holds_none(key):
    assert not is_secret_key(key)
    assert hidden({key: "a b"}) == {key: "a b"}
    assert hide_setting(f"{key}=a b") == f"{key}=a b"


def test_no_field_of_the_results_passes_for_a_secret():
    models = [Manifest, *Record.__origin__.__args__]
    assert not [name for model in models for name in model.model_fields if is_secret_key(name)]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("jdbc:postgresql://me:pw@host/db", "jdbc:postgresql://(hidden)@host/db"),
        ("jdbc:postgresql://me:p@ss/w?rd@host/db", "jdbc:postgresql://(hidden)@host/db"),
        ("jdbc:postgresql://me:9083@host", "jdbc:postgresql://(hidden)@host"),
        ("postgresql+psycopg2://me@host", "postgresql+psycopg2://(hidden)@host"),
        ("s3://AKIAX:abc/def+x@bucket/path", "s3://(hidden)@bucket/path"),
        ("jdbc:postgresql://h/db?password=x&user=y", "jdbc:postgresql://h/db?password=(hidden)&user=y"),
        ("jdbc:sqlserver://h;password=x;encrypt=true", "jdbc:sqlserver://h;password=(hidden);encrypt=true"),
        ("AccountName=a;AccountKey=ab/c==;Suffix=core", "AccountName=a;AccountKey=(hidden);Suffix=core"),
        (
            "BlobEndpoint=https://a/;SharedAccessSignature=sig=ab%2Bd",
            "BlobEndpoint=https://a/;SharedAccessSignature=(hidden)",
        ),
        ("https://a/x?sv=2020&sig=ab%2Bd&se=1", "https://a/x?sv=2020&sig=(hidden)&se=1"),
        ("-Duser=x -Dpassword=a,b;c&d's -Xmx1g", "-Duser=x -Dpassword=(hidden) -Xmx1g"),
        ('Module required user="a" password="b \\" c";', 'Module required user="a" password="(hidden)";'),
        ("Map(fs.s3a.secret.key -> x, a -> b)", "Map(fs.s3a.secret.key -> (hidden), a -> b)"),
        ("{token=x, user=y}", "{token=(hidden), user=y}"),
        ("mine(api_key=x, files=6)", "mine(api_key=(hidden), files=6)"),
        ('{"private_key": "a\\"b", "x": 1}', '{"private_key": "(hidden)", "x": 1}'),
        ('catalog={type="rest", token="a b"}', 'catalog={type="rest", token="(hidden)"}'),
        ("--set 'spark.x.password=x' --simulate", "--set 'spark.x.password=(hidden)' --simulate"),
        ("Authorization: Bearer abc", "Authorization: (hidden)"),
        ("password=(hidden), x=1", "password=(hidden), x=1"),
        ("password      =      x y", "password      =      (hidden) y"),
        ("password=(hidden)rest next", "password=(hidden) next"),
    ],
)
def test_what_a_text_gives_away_is_hidden(text, shown):
    assert hide(text) == shown
    assert hide(shown) == shown


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hive.metastore.uris=thrift://host:9083",
        "abfss://container@acct.dfs.core.windows.net/x and wasb://c@acct/x",
        "hdfs://host:8020/a@b/x.parquet, file:///a/b@c",
        "s3://bucket/date=2026-01-01/x@y.parquet",
        "git@github.com: cannot be reached; check the address, the network and the credentials",
        "SELECT * FROM orders WHERE order_id = 42",
        "every(interval=10min): iceberg.rewrite_data_files(min-input-files=2), write.x=y",
        "token-refresh-enabled=true",
        "thrift://host:9083,thrift://other:9083",
        '{"uri":"http://host:9083","owner":"me@host"}',
        "Basic authentication is refused, bearer tokens are not",
        "/etc/passwd: cannot write there",
        'my-token.toml: seed = "x" must be a whole number',
        "(decode using utf-8-sig): line 1",
    ],
)
def test_a_text_without_a_secret_stays_as_it_is(text):
    assert hide(text) == text
    assert NO_SECRETS.scrub(text) == text


def test_nested_settings_are_dotted_ones():
    settings = {
        "fs": {"s3a": {"secret": {"key": "x"}, "endpoint": "y"}},
        "uri": "https://me:x@host",
        "rules": [{"api_key": "x", "columns": ["a"]}],
        "token": {"refresh": {"enabled": "true"}},
        "pin": {"password": 1234},
        "empty": {"password": "", "token": None},
    }
    assert hidden(settings) == {
        "fs": {"s3a": {"secret": {"key": HIDDEN}, "endpoint": "y"}},
        "uri": "https://(hidden)@host",
        "rules": [{"api_key": HIDDEN, "columns": ["a"]}],
        "token": {"refresh": {"enabled": "true"}},
        "pin": {"password": HIDDEN},
        "empty": {"password": "", "token": None},
    }


def test_secret_values_are_scrubbed_wherever_they_stand():
    secrets = Secrets.of(
        {"a": {"token": "hunter2"}, "b.password": "hunter2-longer", "uri": "x://me:pw/@99@h"}
    )
    assert secrets.scrub("ahunter2b, hunter2-longer; 'pw/@99'") == "a(hidden)b, (hidden); '(hidden)'"
    assert secrets.clean({"x": ["hunter2", 1, None, True], "hunter2": 2}) == {
        "x": [HIDDEN, 1, None, True],
        "hunter2": 2,
    }
    assert "hunter2" not in repr(secrets)


def test_what_would_mangle_any_text_is_hidden_at_its_key_alone():
    values = ["ab", "true", "123456", "1.5", "password", "hidden"]
    secrets = Secrets.of(*({"password": value} for value in values))
    for value in values:
        assert secrets.scrub(f"with {value} in it") == f"with {value} in it"
        assert secrets.scrub(f"password={value}") == "password=(hidden)"


def test_secrets_of_a_command_line():
    words = ["run", "--set", 'a."b.token"="qwerty"', "--x=s3.secret-access-key=as df", "--uri=h://u:zxcv@h"]
    secrets = Secrets.of_arguments(words)
    assert secrets.scrub("run qwerty as df zxcv u asdf") == "run (hidden) (hidden) (hidden) u asdf"


@pytest.mark.parametrize(
    "word", ["token=env:NAME", "--catalog-property=token=env:NAME", "--set=a.token='env:NAME'"]
)
def test_a_variable_on_a_command_line_is_no_secret(word):
    assert Secrets.of_arguments([word]) == NO_SECRETS


def test_secrets_of_several_lines_are_found_by_the_line():
    secrets = Secrets.of({"ssl.keystore.key": "first line\nsecond line\nx"})
    assert secrets.scrub("a first line, second line, x") == "a (hidden), (hidden), x"


_PLANTED = st.text(
    st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), min_size=6, max_size=30
).map(lambda text: f"Zq7{text.strip()}")


def _texts(key, value):
    """A setting as programs write it into texts."""
    yield f"{key}={value}"
    yield f"cannot use {value}: refused"
    yield f"x{value}y"
    yield json.dumps({"settings": {key: value, "n": 1}})
    yield json.dumps([value], ensure_ascii=False)
    yield repr({key: value})
    yield f"https://host/x?a=1&{key}={quote(value, safe='')}&b=2"


@given(key=st.sampled_from(SECRET_KEYS), value=_PLANTED)
def test_no_text_made_of_a_setting_keeps_its_secret(key, value):
    assume(value not in HIDDEN)
    secrets = Secrets.of({key: value})
    for text in _texts(key, value):
        scrubbed = secrets.scrub(text)
        assert "Zq7" not in scrubbed, text
        assert secrets.scrub(scrubbed) == scrubbed


@given(
    key=st.sampled_from(SECRET_KEYS), value=_PLANTED, before=st.text(max_size=20), after=st.text(max_size=20)
)
def test_the_whole_of_a_secret_setting_is_hidden(key, value, before, after):
    assert hide_setting(f"{key}={before}{value}{after}") == f"{key}={HIDDEN}"
    given_settings = {"a": [{key: f"{before}{value}{after}"}], "b": {"c": value}}
    assert "Zq7" not in json.dumps(Secrets.of(given_settings, {"token": value}).clean(given_settings))


@given(
    key=st.sampled_from(SECRET_KEYS),
    value=st.text("abcXYZ019+/=_.~!$%*-", min_size=1, max_size=20),
    other=st.sampled_from(PLAIN_KEYS),
)
def test_without_knowing_its_value_a_secret_is_found_by_its_key(key, value, other):
    planted = f"Zq7{value}"
    for text in (
        f"-D{key}={planted} -Dx=y", f"{{{key}={planted}, {other}=1}}", f"{other}=1;{key}={planted};x=y",
        f"?{other}=1&{key}={planted}&x=y", shlex.join(["--set", f"{key}={planted}", other]),
        f"https://me:{planted}@host/x {other}",
    ):  # fmt: skip
        shown = hide(text)
        assert "Zq7" not in shown
        assert other in shown or f"{other}=1" not in text


@given(st.text(max_size=200))
def test_any_text_can_be_scrubbed(text):
    assert isinstance(NO_SECRETS.scrub(text), str)
    if "=" not in text and ":" not in text and ">" not in text and "//" not in text:
        assert NO_SECRETS.scrub(text) == text


def test_a_password_is_hidden_before_a_value_is_cut():
    shown = value_text(f"https://user:{'p' * 100}@host/x")
    assert "ppp" not in shown
    assert "host/x" in shown


@pytest.mark.parametrize("name", ["password", "token"])
def test_a_scenario_named_like_a_key_shows_no_secret(name, tmp_path):
    """A number is no literal to look for, so that its key is all that hides it."""
    text = SOUND.replace('label = "never"', f'label = "{name}"')
    secrets = load_scenario(str(write(tmp_path, text))).secrets
    assert secrets.scrub(f"{name}: 12345678") == f"{name}: (hidden)"
    assert secrets.clean({"catalog": {name: "12345678"}}) == {"catalog": {name: "(hidden)"}}
