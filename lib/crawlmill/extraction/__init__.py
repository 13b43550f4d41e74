"""From captures to records: copies the listed members of archives, byte for byte, into WARC and ARC files.

Data flow: `plan` divides the inputs into output files, from the list alone; `ranges` fetches the bytes of an output
file's inputs, neighbours in one request; `members` verifies them and finds the records to copy; `output` writes them,
with records of its own (`headers`) and a CDXJ file next to them. `siblings` takes the records of the same pages from
WAT and WET files instead. `copying` does all this in one process, and resumes an earlier run.
"""
