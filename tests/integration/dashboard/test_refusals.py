"""Who may not come in, and which requests another site cannot make for a visitor."""

import pytest

from crawler.dashboard.config import DashboardConfig
from crawler.dashboard.security import COOKIE, LIFETIME_S, Guard
from scrapy_seine.errors import ConfigError
from tests.integration.dashboard.conftest import TOKEN, act, form_token, page, serving


@pytest.fixture
async def guarded(namespace, redis_url, database):
    async with serving(namespace, redis_url, database, token=TOKEN) as client:
        yield client


async def log_in(client, token=TOKEN):
    async with client.post("/login", data={"token": token}, allow_redirects=False) as response:
        return response


@pytest.mark.parametrize("path", ["/", "/dead", "/metrics", "/api/overview", "/events/overview"])
async def test_without_the_token_nothing_is_shown(guarded, path):
    async with guarded.get(path, allow_redirects=False) as response:
        assert response.status == 401
    async with guarded.get(
        path, headers={"Accept": "text/html"}, allow_redirects=False
    ) as response:
        assert (response.status, response.headers["Location"]) == (303, "/login")


async def test_without_the_token_nothing_is_done(guarded, frontier):
    async with guarded.post("/do/pause", data={"sure": "yes"}) as response:
        assert response.status == 401
    assert not (await frontier.counts()).paused


async def test_the_token_opens_a_session(guarded):
    response = await log_in(guarded)

    assert response.status == 303
    cookie = response.cookies[COOKIE]
    assert (cookie["samesite"], cookie["httponly"]) == ("Strict", True)
    assert TOKEN not in cookie.value
    assert "Log out" in await page(guarded, "/")
    await act(guarded, "pause")


async def test_a_wrong_token_opens_nothing(guarded):
    assert (await log_in(guarded, "guess")).status == 403
    await page(guarded, "/api/overview", status=401)


async def test_logging_out_ends_the_session(guarded):
    await log_in(guarded)
    token = await form_token(guarded)
    async with guarded.post("/logout", data={"form_token": token}) as response:
        assert "Log in" in await response.text()
    await page(guarded, "/api/overview", status=401)


async def test_a_program_sends_the_token_as_a_bearer(guarded, frontier):
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    async with guarded.get("/metrics", headers=bearer) as response:
        assert "seine_frontier_requests" in await response.text()
    async with guarded.post(
        "/do/pause", data={"sure": "yes"}, headers=bearer, allow_redirects=False
    ) as response:
        assert response.status == 303
    assert (await frontier.counts()).paused
    async with guarded.get("/metrics", headers={"Authorization": "Bearer guess"}) as response:
        assert response.status == 401


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "127.0.0.1.evil.example", "localhost.evil", "", "[", "[::1", "a]b"),
        *("evil@localhost", "localhost/x", "localhost?x"),
    ],
)
async def test_a_foreign_name_is_refused(client, host):
    async with client.get("/", headers={"Host": host}) as response:
        assert response.status in {400, 421}


async def test_a_name_of_ours_is_answered(namespace, redis_url, database):
    hosts = frozenset({"seine.example"})
    asked = {"Host": "Seine.example:8800"}
    async with (
        serving(namespace, redis_url, database, hosts=hosts) as client,
        client.get("/", headers=asked) as response,
    ):
        assert response.status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://["},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
async def test_another_sites_form_is_refused(client, frontier, headers):
    data = {"form_token": await form_token(client), "sure": "yes"}
    async with client.post("/do/pause", data=data, headers=headers) as response:
        assert response.status == 403
    assert not (await frontier.counts()).paused


@pytest.mark.parametrize("token", ["0" * 64, "x", "é"])
async def test_a_form_without_this_sessions_token_is_refused(client, frontier, token):
    await page(client, "/")
    await act(client, "pause", token=token, status=403)
    assert not (await frontier.counts()).paused


async def test_a_forms_token_is_of_one_session(client, namespace, redis_url, database):
    async with serving(namespace, redis_url, database) as other:
        await page(client, "/")
        await act(client, "pause", token=await form_token(other), status=403)


def test_a_session_ends_and_cannot_be_made_up():
    guard = Guard(DashboardConfig(crawl="c", token=TOKEN))
    cookie = guard.new_session("operator", now_s=1000)

    assert guard.visitor_of(cookie, now_s=1001) == "operator"
    assert guard.visitor_of(cookie, now_s=1001 + LIFETIME_S) is None
    assert guard.visitor_of(cookie.replace("operator", "admin"), now_s=1001) is None
    assert guard.visitor_of("é.1.2.3", now_s=1001) is None
    assert (
        Guard(DashboardConfig(crawl="c", token="another-token-it-is")).visitor_of(cookie, 1001)
        is None
    )
    assert Guard(DashboardConfig(crawl="c", token=TOKEN)).visitor_of(cookie, 1001) == "operator"


@pytest.mark.parametrize("token", ["", "short"])
def test_an_open_address_needs_a_token(token):
    settings = {"SEINE_DASHBOARD_HOST": "0.0.0.0", "SEINE_DASHBOARD_TOKEN": token}
    with pytest.raises(ConfigError, match="SEINE_DASHBOARD_TOKEN"):
        DashboardConfig.from_settings(settings, "catalog")


def test_the_token_is_in_no_printed_form():
    assert TOKEN not in repr(DashboardConfig(crawl="c", token=TOKEN))


@pytest.mark.parametrize(
    "name", ["../app.py", "%2e%2e/app.py", "app.py", "..%5capp.css", "none.css"]
)
async def test_only_static_files_are_served(client, name):
    await page(client, f"/static/{name}", status=404)


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("multipart/form-data; boundary=x", b"--x\r\n\r\n--x--\r\n"),
        ("multipart/form-data", b"x"),
        ("application/x-www-form-urlencoded", b"token=\xff\xfe"),
        ("application/x-www-form-urlencoded; charset=no-such", b"token=x"),
    ],
)
@pytest.mark.parametrize("path", ["/login", "/do/pause"])
async def test_a_body_that_is_no_form_is_refused_with_a_sentence(guarded, path, kind, body):
    bearer = {"Authorization": f"Bearer {TOKEN}"} if path != "/login" else {}
    async with guarded.post(path, data=body, headers={"Content-Type": kind, **bearer}) as response:
        assert response.status in {400, 403}, await response.text()
