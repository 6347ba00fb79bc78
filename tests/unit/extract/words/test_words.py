"""The word tables: one file a language, and every word of them has a rule that looks for it."""

import json
import random
import re
import shutil
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from crawler.extract import words
from crawler.extract.page import lines
from crawler.extract.page.lines import read_all
from crawler.extract.page.page import parse
from crawler.extract.stock import availability
from crawler.extract.visible import fact_labels
from crawler.extract.visible.facts import find_facts
from crawler.extract.visible_signs import Visible
from crawler.extract.words import any_word, listed_words, parts, tables, write_tables

FOLDER = Path(words.__file__).parent
EXTRACT = FOLDER.parent
FILES = sorted(FOLDER.glob("*.toml"))
LISTS = [
    (file.stem, section, name, entries)
    for file in FILES
    for section, lists in tomllib.loads(file.read_text("utf-8")).items()
    for name, entries in lists.items()
]


def test_every_entry_is_a_pattern_in_lower_case_that_captures_nothing():
    faults = []
    for language, section, name, entries in LISTS:
        for entry in entries:
            pattern = parts.uncaptured(entry)
            plain = re.sub(r"\\.", "", entry)
            if re.compile(pattern).groups or plain != plain.lower() or not entry.strip():
                faults.append((language, section, name, entry))
            if re.compile(pattern).fullmatch(""):
                faults.append((language, section, name, entry, "matches nothing at all"))
    assert not faults


def test_no_language_says_a_word_twice():
    twice = [
        (language, section, name)
        for language, section, name, entries in LISTS
        if len(set(entries)) < len(entries)
    ]
    assert not twice


def test_each_list_of_a_file_is_one_that_a_rule_asks_for():
    """A misspelt section would be a file full of words that nobody looks for."""
    code = "".join(path.read_text("utf-8") for path in EXTRACT.rglob("*.py"))
    uses = re.findall(
        r"""(?:any_(?:of|word)|entry_matcher)\(["'](\w+)["'], ((?:["']\w+["'](?:, )?)+)\d?\)""",
        code,
    )
    used_lists = {(section, name) for section, names in uses for name in re.findall(r"\w+", names)}
    used_lists |= {("stock", name) for name in availability._PHRASES}
    used_lists |= {
        ("label", name) for name in ("sku", "gtin", "mpn", "brand", "model", "part", "designer")
    }
    assert {(section, name) for _, section, name, _ in LISTS} == used_lists


def test_the_file_of_all_languages_holds_what_their_own_files_say():
    entries_of_files: dict[tuple[str, str], dict[str, None]] = {}
    for _, section, name, entries in sorted(LISTS, key=lambda row: row[0] != "en"):
        entries_of_files.setdefault((section, name), {}).update(dict.fromkeys(entries))
    stored = json.loads((FOLDER / tables.TABLES).read_text("utf-8"))["lists"]
    lists = {
        (section, name): stored[section][name] for section in stored for name in stored[section]
    }
    assert lists == {key: list(entries) for key, entries in entries_of_files.items()}
    for name, content in tables.current().items():
        assert (FOLDER / name).read_bytes() == content, "run: make format"


def test_stored_parts_are_those_into_which_the_entries_are_divided():
    stored, stale = tables.read(), tables.Tables(tables.read().lists)
    for division in ("letters", "start"):
        for section, name in {(section, name) for _, section, name, _ in LISTS}:
            parts_of_list = stored.parts(division, section, name)
            assert parts_of_list == stale.parts(division, section, name), (section, name)


def test_parts_that_were_stored_of_other_words_are_not_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    copy = Path(shutil.copytree(FOLDER, tmp_path / "words"))
    (copy / "de.toml").write_text('[paging]\nof = ["von insgesamt"]\n', "utf-8")
    monkeypatch.setattr("importlib.resources.files", lambda _: copy)
    assert ("von insgesamt", "von insgesamt") in tables.read().parts("letters", "paging", "of")
    (copy / tables.TABLES).write_bytes(tables.current()[tables.TABLES])
    assert ("von insgesamt", "von insgesamt") in tables.read().parts("letters", "paging", "of")
    (copy / tables.PARTS).unlink()
    assert ("von insgesamt", "von insgesamt") in tables.read().parts("letters", "paging", "of")


@pytest.mark.parametrize("lost", [b"\n=sold", b"\nletters amounts other"])
def test_parts_that_lost_a_line_are_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: bytes
) -> None:
    """Each page was read as none of a product, because the last list ended too early."""
    copy = Path(shutil.copytree(FOLDER, tmp_path / "words"))
    monkeypatch.setattr("importlib.resources.files", lambda _: copy)
    whole = tables.current()[tables.PARTS]
    stored = whole.replace(lost, b"", 1)
    assert stored != whole
    (copy / tables.PARTS).write_bytes(stored)
    read = tables.read()
    assert read.parts("letters", "amounts", "other") == tables.Tables(read.lists).parts(
        "letters", "amounts", "other"
    )
    assert not read._stored_parts


@pytest.mark.parametrize("kept", [None, b"", b"<<<<<<< HEAD\n{", b"[]", b'{"lists": {}}'])
def test_a_word_counts_before_the_file_of_all_languages_is_written_anew(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kept: bytes | None
):
    copy = Path(shutil.copytree(FOLDER, tmp_path / "words"))
    (copy / "de.toml").write_text('[paging]\nof = ["von insgesamt"]\n', "utf-8")
    if kept is None:
        (copy / tables.TABLES).unlink()
    elif kept:
        (copy / tables.TABLES).write_bytes(kept)
    monkeypatch.setattr("importlib.resources.files", lambda _: copy)
    assert "von insgesamt" in tables.read().lists["paging"]["of"]


def test_a_start_parses_no_language_of_its_own(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tomllib, "loads", None)
    assert tables.read().lists["label"]["brand"]


def test_who_checks_the_file_of_all_languages_is_told_to_write_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(write_tables, "FOLDER", tmp_path)
    assert write_tables.main(["--check"]) == 1
    assert "crawler.extract.words.write_tables" in capsys.readouterr().err
    assert write_tables.main([]) == 0
    assert write_tables.main(["--check"]) == 0


def test_a_list_that_no_language_has_is_an_error_that_names_it():
    with pytest.raises(KeyError, match=r"no file in crawler.extract.words has a list 'prize'"):
        words.entries("amounts", "prize")


def test_english_comes_first_and_a_word_of_two_languages_once():
    merged = words.entries("label", "brand")
    assert merged[0] == "brand( name)?"
    assert len(set(merged)) == len(merged)


@pytest.mark.parametrize(
    ("entry", "text", "found"),
    [
        (r"\badd to (cart|bag)", "please add to bag", True),
        (r"\badd to (cart|bag)", "readd to bag", False),
        (r"\bships?\b", "it ships", True),
        (r"\bships?\b", "warships", False),
        (r"barcode \(\w+\)", "barcode (ean)", True),
        (r"m[²2(]? of", "m( of", True),
    ],
)
def test_an_entry_means_the_same_in_the_form_that_is_compiled(entry, text, found):
    pattern = parts.uncaptured(entry)
    assert bool(re.search(pattern, text)) is found is bool(re.search(entry, text))


def test_a_text_is_searched_for_each_word_that_its_letters_can_spell():
    """Entries whose letters a text lacks are not tried on it: none of them can match."""
    plain = {
        (section, name, entry)
        for _, section, name, entries in LISTS
        for entry in entries
        if re.fullmatch(r"[\w ’-]+", entry) and not re.search(r"\d", entry)
    }
    looks = {(section, name): words.any_word(section, name) for section, name, _ in plain}
    everything = {key: words.finder(words.any_of(*key)) for key in looks}
    assert len(plain) > 1000
    for section, name, entry in plain:
        for text in (entry, f"€ – {entry.upper()} ÿ", f"x {entry[:-1]}"):
            match, expected = looks[section, name](text), everything[section, name](text)
            assert bool(match) is bool(expected), (section, name, text)


def test_a_label_means_the_field_that_comes_first_whatever_its_letters():
    matcher = words.full_matcher(
        "|".join(f"({words.any_of('label', field)})" for field in fact_labels._LABELS)
    )
    labels = {entry for _, section, _, entries in LISTS if section == "label" for entry in entries}
    plain = [label for label in labels if re.fullmatch(r"[\w -]+", label)]
    assert len(plain) > 200
    for label in plain:
        field = fact_labels._LABELS[matcher(label).lastindex - 1]
        assert fact_labels.label_of(label) == field, label


def _text_of(parsed, rnd: random.Random) -> str:
    """A text that a parsed pattern may match; what it looks at without taking it is left out."""
    pieces = []
    for kind, argument in parsed:
        match str(kind):
            case "LITERAL":
                pieces.append(chr(argument))
            case "IN":
                code, inner = rnd.choice(argument)
                pieces.append(chr(inner if str(code) == "LITERAL" else ord("7")))
            case "BRANCH":
                pieces.append(_text_of(rnd.choice(argument[1]), rnd))
            case "SUBPATTERN":
                pieces.append(_text_of(argument[3], rnd))
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                times = rnd.choice((argument[0], min(argument[1], argument[0] + 1)))
                pieces += [_text_of(argument[2], rnd) for _ in range(times)]
            case "ANY" | "NOT_LITERAL":
                pieces.append("x")
    return "".join(pieces)


def test_each_match_of_an_entry_holds_the_letters_by_which_it_is_looked_for():
    """A word that is compiled only for some texts is missed in none."""
    rnd, match_count = random.Random(1), 0
    for entry in {parts.uncaptured(entry) for *_, entries in LISTS for entry in entries}:
        parsed, pattern = import_module("re._parser").parse(entry), re.compile(entry)
        by_letters, by_start = parts.by_letters(entry), parts.by_start(entry)
        for text in {_text_of(parsed, rnd) for _ in range(6)}:
            if (match := pattern.fullmatch(text)) is None:
                continue  # what stands around it decides, too
            match_count += 1
            assert any(
                letters in text and re.fullmatch(part, match[0]) for part, letters in by_letters
            ), (
                entry,
                text,
            )
            choices = parts.choices_of_letters(entry)
            assert all(any(run in text for run in runs) for runs in choices), (entry, text)
            assert any(
                text.startswith(listed_words._start(part, letters)) and letters in text
                for part, letters in by_start
                if re.fullmatch(part, text)
            ), (entry, text)
    assert match_count > 3000


@pytest.mark.parametrize("heading", ["BİRLİKTE SATIN ALINANLAR", "Birlikte satın alınanlar"])
def test_a_heading_of_any_case_is_about_other_things(heading):
    """I is the capital of two letters in Turkish."""
    assert lines.begins_other_section(heading) is not None
    assert lines.begins_other_section(f"x {heading}") is None


@pytest.mark.parametrize(
    ("html", "field", "value"),
    [
        ("<h1>Vase</h1><p>Artikelnr: V-12</p>", "sku", "V-12"),
        ("<h1>Vaza</h1><p>Cod produs: V-12</p>", "sku", "V-12"),
        ("<h1>花瓶</h1><p>商品番号：V-12</p>", "sku", "V-12"),
    ],
)
def test_words_of_a_file_reach_the_reader(html, field, value):
    page = parse(html, "https://shop.example/vase")
    visible = Visible()
    find_facts(read_all(page, page.headings[0]), visible)
    assert visible.fields[field] == value


def test_words_of_one_script_are_found_in_no_text_of_another() -> None:
    """All entries of the list are Japanese: none is left to look for in ASCII."""
    taxed = any_word("amounts", "without_tax")
    assert taxed("13,500円（税抜）") is not None
    assert taxed("$13.50") is None


def test_a_rule_remembers_a_bounded_number_of_short_texts_without_words() -> None:
    rule = any_word("amounts", "on_request")
    text = "price on request"

    answers = {bool(rule(f"label {number}")) for number in range(3 * listed_words._MAX_MISSES)}
    rule("x" * 10_000)

    assert answers == {False}
    assert 0 < len(rule._misses) <= listed_words._MAX_MISSES
    assert max(map(len, rule._misses)) <= listed_words._MAX_MISS_LENGTH
    assert [bool(rule(text)) for _ in range(2)] == [True, True]


class _Overrun(BaseException):
    """As the limit on reading raises it, wherever the reading is."""


def _interrupted_once(kind: type[listed_words.WordFinder]) -> listed_words.WordFinder:
    """Return a finder of two lists, the second of which interrupts its first use."""
    asked: list[str] = []

    def parts_of(section: str, name: str) -> list[parts.Part]:
        asked.append(name)
        if asked == ["sold", "gone"]:
            raise _Overrun
        words = {"sold": ["sold out", "no"], "gone": ["gone for good"]}[name]
        return [(word, word) for word in words]

    def rule(any_of: listed_words.AnyOf) -> str:
        return f"(?:{any_of('stock', 'sold')}|{any_of('stock', 'gone')})"

    return kind(rule, parts_of, lambda pattern: re.compile(pattern).match)


@pytest.mark.parametrize("kind", [listed_words.WordFinder, listed_words.StartFinder])
def test_a_page_that_overruns_while_words_are_indexed_spoils_no_later_page(
    kind: type[listed_words.WordFinder],
) -> None:
    """Half an index stayed, and the worker read other words from then on."""
    find = _interrupted_once(kind)
    with pytest.raises(_Overrun):
        find("gone for good")
    for text in ("sold out", "no", "gone for good"):
        match = find(text)
        assert match is not None
        assert match[0] == text


@pytest.mark.parametrize("label", ["Κωδικός EAN", "ΚΩΔΙΚΟΣ EAN", "Код EAN"])
def test_the_word_for_a_code_before_ean_is_a_barcode_s_label(label):
    assert fact_labels.label_of(label) == "gtin"


@pytest.mark.parametrize("text", ["SATIN AL", "HEMEN SATIN AL", "Satın Al", "satin al"])
def test_a_dotless_i_has_a_capital_i(text: str) -> None:
    """The capitals of a Turkish buy button were no word of any rule."""
    assert availability.buys_in_short(text)
    assert availability.availability_of_text("SATIN ALINAMAZ") == "OutOfStock"
