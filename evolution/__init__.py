"""Learns and proposes. One Django app a room; approved changes are applied through the services of lower rooms."""
