"""The database's schema, as numbered SQL files, and how they are applied."""

from crawler.stores.migrations.applying import migrate, pending, prepare
from crawler.stores.migrations.damage import Damage, damage
from crawler.stores.migrations.files import available

__all__ = ["Damage", "available", "damage", "migrate", "pending", "prepare"]
