"""SQLite: the schema, its migrations, and every query. One module a subject; nothing outside this room knows SQL."""
