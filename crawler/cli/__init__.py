"""What the commands do and show; `crawler.commands` holds their names and options."""
