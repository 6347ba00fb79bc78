"""`scrapy coordinate`: plan the crawl's work, as the leader or on standby."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import signal
from collections.abc import Sequence
from typing import TYPE_CHECKING

from crawler.access.shared_state import fleet_name
from crawler.catalogue.jobs.model import Plan
from crawler.catalogue.jobs.webhooks import WebhookConfig, Webhooks
from crawler.cli.site_plans import plans_of
from crawler.reads.crawl_report import plural
from crawler.stores.migrations import migrate
from crawler.stores.store_endpoints import Endpoints, endpoints, redis_client
from scrapy_seine.commands.base import SeineCommand
from scrapy_seine.config import FrontierConfig, flag
from scrapy_seine.frontier import open as open_frontier

if TYPE_CHECKING:
    from crawler.catalogue.coordinator.leader import Coordinator


class Command(SeineCommand):
    """Starts full crawls by schedule, watches sitemaps, sends products again, closes jobs."""

    summary = "Plan full crawls, sitemap watches and re-crawls; fetch nothing"
    example = "scrapy coordinate"
    default_settings = {"LOG_ENABLED": True}  # noqa: RUF012  # Scrapy's own attribute

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare --once and --spider."""
        super().add_options(parser)
        parser.add_argument("--once", action="store_true", help="do what is due now, and end")
        parser.add_argument(
            "--spider", default="catalog", help="spider whose sites are meant (default: catalog)"
        )

    def perform(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run until a signal ends the coordinator.

        Raises:
            ConfigError: a setting is wrong.
        """
        plans = plans_of(self.project, opts.spider)
        stores = endpoints(self.project)
        if flag(self.project, "SEINE_EMBEDDED"):
            migrate(stores.database_url)
        config = FrontierConfig.from_settings(self.project, opts.spider)
        logging.getLogger("crawler.catalogue.coordinator").setLevel(logging.INFO)
        asyncio.run(self._run(stores, config, plans, once=opts.once))

    async def _run(
        self, stores: Endpoints, config: FrontierConfig, plans: Sequence[Plan], *, once: bool
    ) -> None:
        from crawler.catalogue.coordinator.leader import Coordinator

        webhook_config = WebhookConfig.from_settings(self.project)
        redis = redis_client(stores.redis_url)
        crawl, partitions = config.crawl, config.partitions
        coordinator = Coordinator(
            *(redis, crawl, stores.database_url, plans, partitions, config.secrets),
            fleet=fleet_name(self.project),
        )
        try:
            await open_frontier(redis, config)
            webhooks = (
                Webhooks(redis, coordinator.frontier.keys, webhook_config)
                if webhook_config
                else None
            )
            if once:
                await coordinator.step(await coordinator.jobs.now())
            else:
                await _until_signal(coordinator, webhooks)
        finally:
            await redis.aclose()
        self.show(f"{plural(len(plans), 'site')} planned", sites=[plan.site_id for plan in plans])


async def _until_signal(coordinator: Coordinator, webhooks: Webhooks | None) -> None:
    async with asyncio.TaskGroup() as group:
        task = group.create_task(_coordinated(coordinator))
        if webhooks is not None:
            sending = group.create_task(webhooks.run(lambda: coordinator.leading))
            task.add_done_callback(lambda _: sending.cancel())


async def _coordinated(coordinator: Coordinator) -> None:
    task = asyncio.ensure_future(coordinator.run())
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, task.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await task
