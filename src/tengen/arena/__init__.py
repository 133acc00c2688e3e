"""Players against each other and against the truth, with error bars."""
