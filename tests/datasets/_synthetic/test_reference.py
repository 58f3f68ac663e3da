"""References by name: public data that the generator learns."""

import re
import urllib.request

import pytest

from skdisc.datasets import fetch_adult, fetch_compas, make_discrimination, schema_from_frame

SMALL = {"n_pairs": 2, "granularity": 2, "intersectionality": 1, "n_background": 300}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "fetch", "dropped"),
    [("adult", fetch_adult, ["education-num", "fnlwgt"]), ("compas", fetch_compas, ["age"])],
)
def test_a_name_stands_for_the_public_data(load, named_data_dir, name, fetch, dropped):
    load(name)  # skips where it is missing
    made = make_discrimination(**SMALL, reference=name, random_state=0)
    public = fetch(data_home=named_data_dir)
    people = public.data.drop(columns=dropped)
    assert made.schema == schema_from_frame(people, protected=public.protected)
    assert set(made.protected) == set(public.protected)
    assert made.arguments["reference"] == name
    assert made.data.dtypes.equals(people.dtypes)


def test_missing_data_say_where_to_put_them(tmp_path, monkeypatch):
    def offline(*_, **__):
        raise OSError("no network")

    monkeypatch.setenv("SKDISC_DATA", str(tmp_path))
    monkeypatch.setattr(urllib.request, "urlopen", offline)
    with pytest.raises(OSError, match=re.escape(str(tmp_path))):
        make_discrimination(**SMALL, reference="compas")


def test_names_that_are_not_known_and_columns_of_a_known_name():
    with pytest.raises(ValueError, match="'reference'"):
        make_discrimination(**SMALL, reference="census")
    for more in ({"protected": ["sex"]}, {"target": "income"}, {"n_attributes": 8}):
        with pytest.raises(ValueError, match="exactly one source of attributes"):
            make_discrimination(**SMALL, reference="adult", **more)
