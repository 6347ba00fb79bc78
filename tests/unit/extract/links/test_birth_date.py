"""A gate that asks for a date of birth gets an adult's; a form that asks for more is left alone."""

from __future__ import annotations

import pytest

from crawler.extract import find_links, parse
from crawler.extract.links.gate import answer_of

BORN, MONTHS = "Please enter your date of birth", "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec"


def sent(fields: str, heading: str = BORN) -> str | None:
    """What the button of a gate with these fields sends."""
    form = f"<form method=post action=/age>{fields}<button>Enter</button></form>"
    page = parse(f"<html><body><h1>{heading}</h1>{form}</body></html>", "http://shop.example/")
    answer = answer_of(page, find_links(page), sets_cookie=False)
    return answer and answer.body


def select(name: str, first: int, last: int, label: str = "") -> str:
    options = "".join(f"<option value={n}>{n}</option>" for n in range(first, last + 1))
    named = f"<option value=''>{label}" if label else ""
    return f"<select name={name}>{named}{options}</select>"


def named_months(name: str) -> str:
    options = "".join(f"<option value={n}>{month}" for n, month in enumerate(MONTHS.split()))
    return f"<select name={name}>{options}</select>"


DAY, MONTH, YEAR = select("d", 1, 31, "Day"), select("m", 1, 12), select("y", 1930, 2026, "Year")


@pytest.mark.parametrize(
    ("heading", "fields", "expected"),
    [
        (BORN, f"{DAY}{MONTH}{YEAR}", "d=1&m=1&y=1980"),
        ("Welcome", f"{named_months('ageMonth')}{DAY}{YEAR}", "ageMonth=0&d=1&y=1980"),
        (BORN, YEAR, "y=1980"),
        (BORN, select("y", 1930, 1970), "y=1970"),
        ("Welcome", "<input type=date name=dob>", "dob=1980-01-01"),
        ("Welcome", "<input name=a autocomplete=bday>", "a=1980-01-01"),
        ("Geburtsdatum", "<input name=a placeholder='TT.MM.JJJJ'>", "a=01.01.1980"),
        (BORN, "<input name=a placeholder='YYYY-MM-DD'>", "a=1980-01-01"),
        (
            BORN,
            "<input type=number name=a max=31><input type=number name=b max=12>"
            "<input type=number name=c min=1900 max=2026>",
            "a=01&b=01&c=1980",
        ),
        (
            "Fecha de nacimiento",
            "<input name=dia maxlength=2><input name=mes maxlength=2><input name=ano maxlength=4>",
            "dia=01&mes=01&ano=1980",
        ),
        ("Verify your age", "<input type=number name=age>", "age=35"),
        (
            BORN,
            f"<select name=land><option value=GB>UK<option value=US>US</select>{DAY}{MONTH}{YEAR}",
            "land=GB&d=1&m=1&y=1980",
        ),
        (
            BORN,
            "<input type=date name=dob><input type=checkbox name=terms required>"
            "<input type=checkbox name=news>",
            "dob=1980-01-01&terms=on",
        ),
    ],
)
def test_a_date_of_birth_is_an_adults(heading: str, fields: str, expected: str) -> None:
    assert sent(fields, heading) == expected


@pytest.mark.parametrize(
    ("heading", "fields"),
    [
        ("Create an account", "<input type=date name=birthday><input type=password name=p>"),
        ("A gift for your birthday", "<input name=dob placeholder=DD/MM/YYYY><input type=email>"),
        (BORN, f"<input name=first_name>{DAY}{MONTH}{YEAR}"),
        ("When do you arrive?", f"{DAY}{MONTH}{select('y', 2026, 2028)}"),
        ("Date of purchase", f"{DAY}{MONTH}{select('y', 1990, 2026)}"),
        ("Find parts for your car", select("y", 1930, 2026)),
        ("Book a table", "<input type=date name=day>"),
        ("Card", "<input name=mm maxlength=2><input name=yy maxlength=4>"),
        (BORN, f"{YEAR}<select name=country><option value=''>Country<option>UK</select>"),
        (BORN, f"{DAY}{MONTH}{YEAR}<textarea name=t></textarea>"),
        (BORN, select("y", 2010, 2026)),
        ("Your postcode", "<input name=plz maxlength=5>"),
    ],
)
def test_a_form_that_asks_for_anything_else_is_left_alone(heading: str, fields: str) -> None:
    assert sent(fields, heading) is None
