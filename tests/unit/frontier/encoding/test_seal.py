"""A worker that has a secret takes only what the fleet signed, and nothing of it can be changed."""

from __future__ import annotations

import itertools

import pytest

from scrapy_seine.config import UNSIGNED, FrontierConfig
from scrapy_seine.errors import ConfigError, DecodeError
from scrapy_seine.frontier.encoding.codec import SEAL_BYTES, decode, encode
from scrapy_seine.frontier.encoding.seal import Seal
from scrapy_seine.frontier.encoding.wire import reset_tries
from scrapy_seine.frontier.model import Push

OLD, NEW = "o" * 32, "n" * 32
FIELDS = {"url": "http://a.example/p", "priority": 5, "meta": {"retry_count": 2, "task_id": "t"}}
PLAIN = Push(domain="a.example", blob=encode(FIELDS), priority=5, job="j:1")


def test_what_was_signed_is_taken_and_read_as_it_was() -> None:
    seal = Seal("catalog", [OLD])
    stored = seal.push(PLAIN).to_stored()
    seal.check(stored)
    assert decode(stored.partition(b"\n")[2]) == FIELDS
    assert stored.partition(b"\n")[0] == PLAIN.to_stored().partition(b"\n")[0]


def test_no_byte_of_a_signed_request_can_be_changed() -> None:
    seal = Seal("catalog", [OLD])
    stored = seal.push(PLAIN).to_stored()
    for at in range(len(stored)):
        for flip in (1, 128):
            changed = bytearray(stored)
            changed[at] ^= flip
            with pytest.raises(DecodeError):
                seal.check(bytes(changed))
    for end in range(len(stored)):
        with pytest.raises(DecodeError):
            seal.check(stored[:end])
    with pytest.raises(DecodeError):
        seal.check(stored + b"\x00")


@pytest.mark.parametrize(
    ("stored", "reason"),
    [
        (PLAIN.to_stored(), "not signed"),
        (b"", "unknown version"),
        (b"1 a\n", "unknown version"),
        (b"1 a\n\x02" + b"x" * SEAL_BYTES, "not known here"),
        (Seal("other", [OLD]).push(PLAIN).to_stored(), "signature"),
        (Seal("catalog", [NEW]).push(PLAIN).to_stored(), "not known here"),
    ],
)
def test_everything_else_is_refused_with_its_reason(stored: bytes, reason: str) -> None:
    with pytest.raises(DecodeError, match=reason):
        Seal("catalog", [OLD]).check(stored)


def test_parts_cannot_be_moved_between_a_crawl_s_name_a_header_and_the_request() -> None:
    one, two = Seal("a", [OLD]), Seal("a\n1", [OLD])
    signed = one.close(b"1 x", b"\x01body")
    with pytest.raises(DecodeError):
        two.check(b"x\n" + signed)


@pytest.mark.parametrize(
    "secrets", [([OLD], [OLD, NEW], [NEW, OLD], [NEW]), ([], [NEW, UNSIGNED], [NEW])]
)
def test_a_fleet_changes_its_secret_or_gets_one_without_a_stop(secrets: list[list[str]]) -> None:
    steps = [Seal("c", each) for each in secrets]
    for before, after in itertools.pairwise(steps):
        for writer, reader in ((before, after), (after, before), (after, after)):
            reader.check(writer.push(PLAIN).to_stored())
            assert reader.reads(writer.name)
    with pytest.raises(DecodeError):
        steps[-1].check(steps[0].push(PLAIN).to_stored())
    assert not steps[-1].reads(steps[0].name)


def test_a_worker_without_a_secret_reads_what_others_signed() -> None:
    stored = Seal("c", [OLD]).push(PLAIN).to_stored()
    Seal().check(stored)
    assert decode(stored.partition(b"\n")[2]) == FIELDS


def test_a_replay_signs_anew_what_was_signed_and_nothing_else() -> None:
    seal = Seal("c", [NEW, OLD])
    replayed = reset_tries(Seal("c", [OLD]).push(PLAIN).to_stored(), seal)
    Seal("c", [NEW]).check(replayed)
    meta = decode(replayed.partition(b"\n")[2])["meta"]
    assert "retry_count" not in meta
    assert meta["seine_replayed"] is True
    assert reset_tries(PLAIN.to_stored(), seal) == b""


def test_a_short_secret_and_a_second_one_alone_are_refused_and_not_shown() -> None:
    with pytest.raises(ConfigError) as caught:
        FrontierConfig.from_settings({"SEINE_SECRET": "hunter2"})
    assert "hunter2" not in str(caught.value)
    with pytest.raises(ConfigError, match="set both"):
        FrontierConfig.from_settings({"SEINE_SECRET_PREVIOUS": OLD})
    config = FrontierConfig.from_settings({"SEINE_SECRET": NEW, "SEINE_SECRET_PREVIOUS": OLD})
    assert config.secrets == (NEW, OLD)
    assert NEW not in repr(config)
    assert NEW not in repr(vars(Seal("c", config.secrets)))
    grace = {"SEINE_SECRET": NEW, "SEINE_SECRET_PREVIOUS": "nothing"}
    assert FrontierConfig.from_settings(grace).secrets == (NEW, "nothing")
    with pytest.raises(ConfigError, match="32 characters"):
        FrontierConfig.from_settings({**grace, "SEINE_SECRET": "nothing"})


def test_a_project_that_does_not_read_its_environment_signs_with_the_secret_in_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SEINE_SECRET", NEW)
    monkeypatch.setenv("SEINE_SECRET_PREVIOUS", OLD)
    assert FrontierConfig.from_settings({}).secrets == (NEW, OLD)
    assert FrontierConfig.from_settings({"SEINE_SECRET": OLD}).secrets[0] == OLD


def test_a_seal_without_a_secret_signs_nothing() -> None:
    assert not Seal("c").active
    assert Seal("c", [NEW]).active
    assert Seal("c").close(b"4000 a.example", b"blob") == b"blob"
