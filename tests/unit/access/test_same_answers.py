"""A proxy's own answer with status 200 is no page of the site, and a site may repeat itself."""

from __future__ import annotations

from crawler.access.proxies.same_answers import SameAnswers

SITE, PORTAL = "shop.example", b"<h1>Welcome to the hotel</h1>"


def url(number: int) -> str:
    return f"http://shop.example/p/{number}"


def test_pages_of_their_own_and_a_page_that_is_asked_for_twice_are_believed() -> None:
    answers = SameAnswers()
    assert [answers.judge(SITE, url(n), b"%d" % n)[0] for n in (1, 2, 1, 1)] == ["page"] * 4


def test_an_answer_of_several_pages_is_false_where_they_have_others_the_second_time() -> None:
    answers = SameAnswers()
    assert answers.judge(SITE, url(0), PORTAL) == ("page", url(0))
    for number in (1, 2, 3):
        assert answers.judge(SITE, url(number), PORTAL) == ("again", url(0))
        assert answers.judge(SITE, url(number), b"%d" % number) == ("page", url(number))
    assert answers.judge(SITE, url(4), PORTAL) == ("no page", url(0))
    assert answers.judge("other.example", url(5), PORTAL)[0] == "page", "that site is another one"


def test_a_site_that_repeats_itself_is_asked_again_for_three_pages_only() -> None:
    """Such as the empty end of a listing, or an answer of a script: `[]`."""
    answers, fetched = SameAnswers(), 0
    for number in range(20):
        verdict = "again"
        while verdict != "page":
            verdict, fetched = answers.judge(SITE, url(number), b"[]")[0], fetched + 1
    assert fetched == 20 + 3


def test_a_page_that_has_the_answer_twice_keeps_it_from_being_called_false() -> None:
    answers = SameAnswers()
    answers.judge(SITE, url(0), b"[]")
    for number in (1, 2, 3):
        answers.judge(SITE, url(number), b"[]")
        answers.judge(SITE, url(number), b"%d" % number)
    assert answers.judge(SITE, url(4), b"[]")[0] == "no page"
    assert answers.judge(SITE, url(4), b"[]")[0] == "page"
    assert answers.judge(SITE, url(5), b"[]")[0] == "again"
