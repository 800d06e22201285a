"""What the knowledge base service does, one verb per file, without a word of HTTP.

Every verb takes the service's parts first and then the viewer: the REST routes, the MCP tools and
the command line call the same functions. A viewer is a user id that `app.auth` vouches for.
"""
