"""URLs: their keys in indexes, their hosts, and the domains that hosts belong to."""
