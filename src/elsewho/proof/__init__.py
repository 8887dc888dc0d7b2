"""How well a release hides: attackers and the scores they are judged by."""
