"""The database's schema, as numbered SQL files, and how they are applied."""

from crawler.stores.migrations.applying import migrate, pending, prepare
from crawler.stores.migrations.damage import Damage, damage, damage_texts
from crawler.stores.migrations.files import available

__all__ = ["Damage", "available", "damage", "damage_texts", "migrate", "pending", "prepare"]
