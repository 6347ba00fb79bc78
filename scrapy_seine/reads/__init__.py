"""Readings of a fleet for people: state, domains, workers, dead letters."""
