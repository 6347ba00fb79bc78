"""Hostile input against a live fleet beside good work, judged from outside.

`generate` makes the inputs from a seed: `seeds`, `stored` and `junk` (Redis), `answers` (raw HTTP),
`pages`, `relatives` and `sites` (what a site shows), `board` (the dashboard). `server` plays the
hostile sites and the canaries, `fleet` runs workers and measures how long their event loops stand
still, `judge` reads logs, rows, screens and access logs, and `run` puts it all together.
"""
