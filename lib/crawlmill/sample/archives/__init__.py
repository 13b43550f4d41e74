"""How the pages of a sample are stored: records of WARC, WAT and WET files, and the three forms of the 2012 corpus."""
