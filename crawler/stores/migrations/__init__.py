"""The database's schema, as numbered SQL files, and how they are applied."""

from crawler.stores.migrations.applying import available, migrate, pending, prepare

__all__ = ["available", "migrate", "pending", "prepare"]
