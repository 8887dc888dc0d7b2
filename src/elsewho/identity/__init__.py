"""New identities and the galleries that they come from. Knows arrays only."""
