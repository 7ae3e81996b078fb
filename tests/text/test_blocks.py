"""What is read as prose, what is kept whole, and which language a text is in."""

from __future__ import annotations

import pytest

from memento.text.sentences import LARGEST, blocks, language


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("I like tea.", ["prose"]),
        ("Packing:\n- tent\n- stove", ["list"]),
        ("- I play chess\n- I live in Rome", ["prose"]),
        ("Run this:\n```sh\nmake all\n```\nThen wait.", ["code", "prose"]),
        ("| a | b |\n| 1 | 2 |", ["table"]),
        ("Minutes, board\nPresent: Ann, Bo\n1. Paint.\n2. Roof.", ["minutes"]),
        ("It failed.\n`ERROR 42 at noon`", ["prose", "code"]),
        ("", []),
    ],
)
def test_a_text_is_cut_into_what_is_read_in_one_way(text: str, kinds: list[str]) -> None:
    assert [block.kind for block in blocks(text)] == kinds


def test_nothing_of_a_text_is_lost() -> None:
    text = "Before.\nTo buy:\n- oats\n- salt\nAfter."

    assert "\n".join(block.text for block in blocks(text)) == text


def test_a_long_list_is_cut_between_its_items() -> None:
    found = blocks("\n".join(f"- item number {n} of the long list" for n in range(200)))

    assert len(found) > 1
    assert all(len(block.text) <= LARGEST for block in found)
    assert all(line.startswith("- item") for block in found for line in block.text.splitlines())


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("I met the notary yesterday.", "en"),
        ("Ich habe gestern den Notar getroffen und er war nicht da.", "de"),
        ("Hier j'ai rencontré le notaire dans la rue.", "fr"),
        ("Ayer compré una bicicleta para mi hermana.", "es"),
        ("Ho comprato una bicicletta per la mia sorella e non è nuova.", "it"),
        ("Ik heb gisteren een nieuwe fiets voor mijn zus gekocht.", "nl"),
        ("Вчера я купил велосипед.", "xx"),
        ("Std service €45. Puncture €8.", "en"),
        ("mum's awa back tae her ain hoose", "en"),
        ("ok", "en"),
    ],
)
def test_a_language_is_told_by_its_small_words(text: str, code: str) -> None:
    assert language(text) == code
