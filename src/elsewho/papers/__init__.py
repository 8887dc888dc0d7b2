"""The papers behind elsewho: their data sets and their experiments."""
