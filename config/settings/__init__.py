"""base (shared) · local (embedded, the default) · test · production."""
