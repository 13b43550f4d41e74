"""CDXJ lines of records in the usual form, which nearly all have, made without the objects of `indexes.cdx.archive`."""
