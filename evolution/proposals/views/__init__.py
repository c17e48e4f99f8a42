"""The proposals API: drafting, deciding, applying, rolling back, reports."""
