"""Selecting records and captures by what they say of their page: host, status, language, date and so on."""
