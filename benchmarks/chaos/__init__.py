"""Real processes, killed and frozen at random while clients work; then heal, audit, compare."""
