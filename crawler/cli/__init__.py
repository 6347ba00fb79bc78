"""The commands' work and output; `crawler.commands` holds their names and options."""
