"""Selects records and captures by properties of their page: host, status, language, date and so on."""
