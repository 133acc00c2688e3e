"""The board in the browser: `tengen serve`. Translates messages; sessions, players and arena do the work."""
