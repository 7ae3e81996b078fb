"""Anchors are found by any of their names, in the graphs of the reader."""

from memento.iris import IRI
from memento.search.labels import Labels

MAIN, WORK = IRI("urn:g:main"), IRI("urn:g:work")


def test_an_anchor_is_found_by_every_name_however_it_is_written() -> None:
    labels = Labels()
    labels.put(1, MAIN, ["New York", "NYC"])

    assert labels.find_exact(" new  york, ", [MAIN]) == [1]
    assert labels.find_exact("nyc", [MAIN]) == [1]
    assert labels.find_exact("nyc", [WORK]) == []


def test_a_new_name_takes_the_place_of_the_old() -> None:
    labels = Labels()
    labels.put(1, MAIN, ["Twitter"])
    labels.put(1, MAIN, ["X"])

    assert labels.find_exact("Twitter", [MAIN]) == []
    assert labels.find_exact("x", [MAIN]) == [1]


def test_two_of_the_same_name_both_come_back() -> None:
    labels = Labels()
    labels.put(2, WORK, ["Mercury"])
    labels.put(1, MAIN, ["Mercury"])
    labels.put(3, MAIN, ["mercury"])

    assert labels.find_exact("Mercury", [MAIN, WORK]) == [1, 3, 2]
