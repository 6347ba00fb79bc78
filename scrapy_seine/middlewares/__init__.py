"""Downloader middlewares that keep what a site asks for, across the fleet."""
