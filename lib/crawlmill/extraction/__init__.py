"""From captures to records: copies the listed members of archives, byte for byte, into WARC and ARC files.

The way of the data: `plan` cuts the inputs into output files by the list alone; `ranges` fetches the bytes of an output
file's inputs, neighbours by one request; `members` proves them and finds what is to be copied; `output` writes them,
with the records around them (`headers`) and a CDXJ file beside. `siblings` takes the records of the same pages out of
WAT and WET files instead. `copying` does it all in one process, and goes on where an earlier run ended.
"""
