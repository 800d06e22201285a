"""Serves the built web app, precompressed, under any mount prefix; or one page that says so."""
