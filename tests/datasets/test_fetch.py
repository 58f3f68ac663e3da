"""Public data: what is protected, what happens to a download, and what is left when it fails."""

import gzip
import hashlib
import io
import json
import os
import re
import tarfile
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from skdisc import datasets
from skdisc.datasets import _convert, _fetch, _store

EXPECTED = {  # rows, features, share of favorable outcomes in the target
    "adult": (48_842, 14, 11_687 / 48_842),
    "compas": (6_172, 9, 1 - 2_809 / 6_172),
    "german": (1_000, 20, 0.7),
    "bank": (45_211, 16, 5_289 / 45_211),
    "law_school": (21_791, 5, None),
    "law_school_cst": (21_790, 4, None),
    "acs_income": (665_800, 10, 0.369),
    "ssl": (398_531, 3, None),
}


REGISTRY = _store.registry()


def fetch(name, **options):
    if name == "law_school_cst":
        return datasets.fetch_law_school("cst", **options)
    return getattr(datasets, f"fetch_{name}")(**options)


@pytest.mark.parametrize("name", EXPECTED)
def test_columns_and_values(name, data_dir):
    rows, width, share = EXPECTED[name]
    bunch = fetch(name, data_home=data_dir, download_if_missing=False)
    assert bunch.data.shape == (rows, width)
    assert list(bunch.data) == bunch.feature_names
    assert bunch.target.name not in bunch.data
    pd.testing.assert_frame_equal(
        bunch.frame, bunch.data.assign(**{bunch.target.name: bunch.target})
    )
    assert len(bunch.details) == rows
    favorable = (bunch.target == bunch.favorable).to_numpy()
    assert 0 < favorable.mean() < 1
    if share is not None:
        assert favorable.mean() == pytest.approx(share, abs=5e-4)
    assert set(bunch.protected) == set(bunch.privileged) <= set(bunch.data)
    for predicate in bunch.privileged.values():
        inside = predicate.mask(bunch.data)
        assert 0 < inside.mean() < 1
        assert favorable[inside].mean() > favorable[~inside].mean(), str(predicate)
    assert "Archive of record" in bunch.DESCR
    assert "data_home" in bunch.DESCR


def test_forms_of_the_answer(data_dir):
    bunch = fetch("german", data_home=data_dir)
    arrays = fetch("german", data_home=data_dir, as_frame=False)
    assert arrays.frame is None
    np.testing.assert_array_equal(arrays.data, bunch.data.to_numpy())
    X, y = fetch("german", data_home=data_dir, return_X_y=True)
    pd.testing.assert_frame_equal(X, bunch.data)
    pd.testing.assert_series_equal(y, bunch.target)


def test_wrong_arguments():
    with pytest.raises(ValueError, match="'scenario'"):
        datasets.fetch_law_school("bar")
    with pytest.raises(TypeError, match="subset"):
        datasets.fetch_adult(subset="train")


def test_the_environment_names_the_folder(tmp_path, monkeypatch, data_dir):
    monkeypatch.setenv("SKDISC_DATA", str(tmp_path))
    with pytest.raises(OSError, match=re.escape(str(tmp_path))):
        fetch("german", download_if_missing=False)
    (tmp_path / "german.csv.gz").write_bytes((data_dir / "german.csv.gz").read_bytes())
    assert len(fetch("german").data) == 1000


def published(name, table):
    """Undo a conversion: the files as they are published, but for what was left out of them."""
    text = table.decode()
    if name == "adult":
        lines = [line.split(",") for line in text.splitlines()[1:]]
        train = "\n".join(", ".join(line[:-1]) for line in lines if line[-1] == "train")
        test = "\n".join(", ".join(line[:-1]) + "." for line in lines if line[-1] == "test")
        return [f"{train}\n\n".encode(), f"|1x3 Cross validator\n{test}\n\n".encode()]
    if name == "compas":
        lines = text.splitlines()
        named = ["name," + lines[0], *('"Doe, ""J"""' + "," + line for line in lines[1:])]
        return ["\r\n".join([*named, ""]).encode()]
    if name == "law_school_cst":
        return [text.replace(",", "|").encode()]
    return [table]


@pytest.mark.parametrize("name", ["adult", "compas", "german", "law_school_cst", "ssl"])
def test_conversion_gives_the_known_csv(name, data_dir):
    entry = _store.registry()[name]
    table = gzip.decompress((data_dir / f"{entry['file']}.csv.gz").read_bytes())
    assert hashlib.sha256(table).hexdigest() == entry["csv_sha256"]
    assert _convert.CONVERT[entry["convert"]](*published(name, table)) == table


def test_conversion_of_archives(data_dir):
    import zipfile

    table = gzip.decompress((data_dir / "bank.csv.gz").read_bytes())
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("bank-full.csv", table.decode().replace(",", ";"))
    assert _convert.bank(archive.getvalue()) == table
    pytest.importorskip("pyarrow")
    acs = pd.read_csv(data_dir / "acs_income.csv.gz", nrows=20_000)
    acs.loc[15_000:, "split"] = "validation"
    parts = []
    for split in ("test", "validation"):
        part = acs[acs["split"] == split].drop(columns="split").astype(float)
        parts.append(part.to_parquet())
    assert _convert.acs(*parts) == acs.to_csv(index=False).encode()


def test_the_registry_agrees_with_the_manifest(data_dir):
    manifest = json.loads((data_dir / "MANIFEST.json").read_text())
    known = {f["name"]: f for f in manifest}
    held = {name: e for name, e in _store.registry().items() if name != "ad_campaign"}
    for entry in held.values():
        theirs = known[entry["file"] + ".csv.gz"]
        assert entry["csv_sha256"] == theirs["csv_sha256"]
        assert entry["rows"] == theirs["rows"]
        assert [s["blob"] for s in entry["sources"]] == [s["blob"] for s in theirs["sources"]]
        for ours, source in zip(entry["sources"], theirs["sources"], strict=True):
            assert source["commit"] in ours["url"]


class Server(BaseHTTPRequestHandler):
    """Serves what the test says, whole, cut short, or not at all."""

    def do_GET(self):
        self.server.asked.append(self.path)
        if self.server.body is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.server.body)))
        self.end_headers()
        self.wfile.write(self.server.body[: self.server.cut])

    def log_message(self, *args):
        pass


AD_CAMPAIGN = """religion,politics,college_educated,parents,homeowner,gender,age,income,area,\
true_conversion,predicted_conversion,predicted_probability
Unknown,Unknown,1,1,1,Unknown,55-64,Unknown,Unknown,0,0,0.001351
Other,Unknown,1,1,0,F,45-54,<100K,Urban,0,1,0.4
Unknown,Unknown,1,0,1,M,55-64,>100K,Rural,1,1,0.5
"""


def packed(**files):
    """Pack texts as the published archive is packed."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(f"bias-in-advertising/{name}.csv")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return raw.getvalue()


@pytest.fixture
def server(monkeypatch):
    """A server on loopback, with a data set ``tiny`` that the registry says is there."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        server.body, server.cut, server.asked = b"sex,y\nF,1\nM,0\n" * 5000, None, []
        body = server.body
        entry = {
            "file": "folder/tiny",
            "convert": "plain",
            "csv_sha256": hashlib.sha256(body).hexdigest(),
            "sources": [
                {
                    "url": f"http://127.0.0.1:{server.server_port}/pinned/tiny.csv",
                    "blob": hashlib.sha1(b"blob %d\0" % len(body) + body).hexdigest(),
                }
            ],
            "archive": "none",
        }
        monkeypatch.setattr(_store, "registry", lambda: {"tiny": entry})
        monkeypatch.setenv("no_proxy", "*")
        server.entry = entry
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def left(folder):
    return [path for path in Path(folder).rglob("*") if path.is_file()]


def test_downloaded_once(server, tmp_path):
    assert _store.find_csv("tiny", tmp_path) == server.body
    assert left(tmp_path) == [tmp_path / "folder" / "tiny.csv.gz"]
    assert _store.find_csv("tiny", tmp_path) == server.body
    assert server.asked == ["/pinned/tiny.csv"]


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ({"cut": 1000}, "could not be downloaded .*IncompleteRead"),
        ({"cut": 0}, "could not be downloaded .*IncompleteRead"),
        ({"body": None}, "could not be downloaded .*404"),
        ({"body": b"sex,y\nF,0\n"}, r"not the published file: its checksum \(git blob\) is"),
    ],
)
def test_a_failed_download_leaves_nothing(server, tmp_path, fault, message):
    for name, value in fault.items():
        setattr(server, name, value)
    with pytest.raises(OSError, match=message) as caught:
        _store.find_csv("tiny", tmp_path)
    assert left(tmp_path) == []
    text = str(caught.value)
    assert "'tiny.csv'" in text
    assert repr(str(tmp_path / "folder")) in text
    assert server.entry["sources"][0]["url"] in text


def test_nobody_answers(server, tmp_path):
    server.entry["sources"][0]["url"] = "http://127.0.0.1:1/tiny.csv"
    with pytest.raises(OSError, match=r"could not be downloaded.*put 'tiny\.csv' into"):
        _store.find_csv("tiny", tmp_path)
    with pytest.raises(OSError, match="is not in"):
        _store.find_csv("tiny", tmp_path, download_if_missing=False)
    assert left(tmp_path) == []


def test_a_file_put_there_by_hand(server, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "tiny.csv").write_bytes(server.body)
    assert _store.find_csv("tiny", tmp_path, download_if_missing=False) == server.body
    assert server.asked == []
    (tmp_path / "folder" / "tiny.csv.gz").unlink()
    (tmp_path / "folder" / "tiny.csv").write_bytes(server.body[:-1])
    with pytest.raises(OSError, match=r"not the published file.*Remove it"):
        _store.find_csv("tiny", tmp_path)


def test_a_wrong_conversion_is_not_stored(server, tmp_path):
    server.entry["csv_sha256"] = "0" * 64
    with pytest.raises(OSError, match="could not be created"):
        _store.find_csv("tiny", tmp_path)
    assert left(tmp_path) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [(gzip.compress(b"x"), "not the published data"), (b"\x1f\x8b\x08rubbish", "cannot be read")],
    ids=["other", "rubbish"],  # the bytes have the time in them
)
def test_a_damaged_file_is_refused(server, tmp_path, content, message):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "tiny.csv.gz").write_bytes(content)
    with pytest.raises(OSError, match=message):
        _store.find_csv("tiny", tmp_path)
    assert server.asked == []


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions of POSIX")
def test_a_read_only_folder(server):
    is_root = os.geteuid() == 0
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o555)
        if is_root:
            os.seteuid(65534)
        try:
            with pytest.raises(OSError, match=r"cannot be stored in .*data_home= or SKDISC_DATA"):
                _store.find_csv("tiny", folder)
        finally:
            if is_root:
                os.seteuid(0)
        os.chmod(folder, 0o755)
        assert left(folder) == []
    assert server.asked == []


def test_an_interrupted_write_leaves_nothing(server, tmp_path, monkeypatch):
    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(_store.os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        _store.find_csv("tiny", tmp_path)
    assert left(tmp_path) == []


@pytest.fixture
def advert(server, monkeypatch):
    """The server gives three people of the ad campaign, and the registry knows how many."""
    entry = dict(REGISTRY["ad_campaign"])
    entry["rows"], entry["counts"] = 3, {"true_conversion": 1, "predicted_conversion": 2}
    entry["sources"] = [{"url": f"http://127.0.0.1:{server.server_port}/1.0.0/ads.tar.gz"}]
    for module in (_store, _fetch):
        monkeypatch.setattr(module, "registry", lambda: {"ad_campaign": entry})
    server.body = packed(**{"._ad_campaign_data": "x", "ad_campaign_data": AD_CAMPAIGN})
    return server


def test_the_ad_campaign(advert, tmp_path):
    bunch = datasets.fetch_ad_campaign(data_home=tmp_path)
    assert bunch.data.shape == (3, 9)
    assert bunch.target.tolist() == [0, 0, 1]
    assert bunch.protected == ["gender"]
    assert bunch.privileged["gender"].mask(bunch.data).tolist() == [False, False, True]
    assert list(bunch.details) == ["predicted_conversion", "predicted_probability"]
    numbers = bunch.data.drop(columns="gender")
    assert all(isinstance(dtype, pd.CategoricalDtype) for dtype in numbers.dtypes)
    assert left(tmp_path) == [tmp_path / "ad_campaign.csv.gz"]
    again = datasets.fetch_ad_campaign(data_home=tmp_path, download_if_missing=False)
    pd.testing.assert_frame_equal(again.frame, bunch.frame)
    assert len(advert.asked) == 1
    (tmp_path / "ad_campaign.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2\n"))
    with pytest.raises(OSError, match=r"not the published data.*other columns.*Remove it"):
        datasets.fetch_ad_campaign(data_home=tmp_path)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (packed(ad_campaign_data=AD_CAMPAIGN + AD_CAMPAIGN.splitlines()[-1]), "'rows': 4,.*not"),
        (
            packed(ad_campaign_data="a,b\n1,2\n"),
            "could not be created: the converted file has other columns",
        ),
        (
            packed(readme="nothing"),
            "the archive has no file 'ad_campaign_data.csv' .*put 'ads.tar.gz' into",
        ),
        (b"<html>moved</html>", "the archive has no file 'ad_campaign_data.csv'"),
        (
            packed(ad_campaign_data=AD_CAMPAIGN)[:-30],
            "the archive has no file 'ad_campaign_data.csv'",
        ),
    ],
    ids=lambda v: v if isinstance(v, str) else "archive",
)
def test_another_file_in_place_of_the_ad_campaign(advert, tmp_path, body, message):
    advert.body = body
    with pytest.raises(OSError, match=message):
        datasets.fetch_ad_campaign(data_home=tmp_path)
    assert left(tmp_path) == []
