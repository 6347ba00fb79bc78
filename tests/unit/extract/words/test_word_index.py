"""A text's runs of letters are found by its words, whatever words came before."""

from hypothesis import given
from hypothesis import strategies as st

from crawler.extract.words import word_index
from crawler.extract.words.word_index import WordIndex

_LETTERS = st.text("abc \u00a0é売", max_size=8)


@given(st.lists(_LETTERS, max_size=8), st.lists(_LETTERS, max_size=6))
def test_an_index_finds_the_letters_that_each_text_contains(letters, texts):
    index = WordIndex(letters)
    for text in [*texts, *texts]:  # the second time, the index remembers the words
        expected = {place for place, run in enumerate(letters) if run in text}
        assert set(index(text)) == expected


def test_an_index_remembers_a_bounded_number_of_words():
    index = WordIndex(["sold out"])
    for number in range(3 * word_index._MAX_WORDS):
        index(f"word{chr(97 + number % 26) * (number // 26)} sold{chr(97 + number % 26)}")
    index("x" * 10_000)
    assert 0 < len(index._empty) + len(index._holding) <= word_index._MAX_WORDS
    assert max(map(len, index._empty)) < 100
    assert index("it is sold out") == [0]


def test_an_index_remembers_no_numbers_because_each_page_has_its_own():
    index = WordIndex(["sold out"])
    for number in range(20):
        assert index(f"${number}.50, {number}") == []
    assert not index._empty
