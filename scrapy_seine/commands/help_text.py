"""The form of our commands' --help."""

from __future__ import annotations

from scrapy.commands import ScrapyHelpFormatter


class HelpFormatter(ScrapyHelpFormatter):
    """Scrapy's, which takes each line that ends with a colon for a heading.

    A line of an option's help got capitals and an underline.
    """

    def format_part_strings(self, part_strings: list[str]) -> list[str]:
        """Underline the headings of *part_strings* alone."""
        if part_strings and part_strings[0].startswith(" "):  # an option and its help
            return part_strings
        underline = super().format_part_strings
        return [
            line
            for part in part_strings
            for line in ([part] if part.startswith(" ") else underline([part]))
        ]
