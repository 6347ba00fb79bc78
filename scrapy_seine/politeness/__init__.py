"""Politeness: how long a site wants to be left alone, and what its robots.txt allows.

The rules are pure functions; the frontier holds their outcome, so that it counts for the fleet.
"""
