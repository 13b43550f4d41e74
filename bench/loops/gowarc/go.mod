module gowarc-loop

go 1.24.0

require github.com/nlnwa/gowarc/v3 v3.1.0
