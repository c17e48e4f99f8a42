"""Where proposals come from: one small module a source. Each turns what was observed into a `Draft`."""
