"""Readings of a fleet for people: state, domains, workers, dead letters; pure but for the reading."""
