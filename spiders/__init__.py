"""The spiders: one catalogue spider, and one small file a site under sites/."""
