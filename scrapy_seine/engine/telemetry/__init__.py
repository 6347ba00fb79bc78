"""TODO scrapy_seine/engine/telemetry."""
