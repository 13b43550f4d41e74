"""The files of a sample: records of WARC, WAT and WET files, and the three forms of the 2012 corpus."""
