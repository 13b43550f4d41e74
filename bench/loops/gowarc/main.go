// Does the work of the loops over other libraries with gowarc, as its users write it.
//
//	gowarc-loop WORK FILE…      prints {"keys": …, "total": …}
//
// gowarc drops a block that it is told not to validate before it returns the record. So `pass-records` is its fastest
// way, WithNoValidation, which still proves the checksums of gzip members; `take-blocks` is its default, which holds
// each block in memory, parses HTTP, and computes and compares the digests. It reads no Zstandard.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/nlnwa/gowarc/v3"
)

type answer struct{ keys, total int64 }

func main() {
	work, files := os.Args[1], os.Args[2:]
	var sum answer
	for _, file := range files {
		if err := read(work, file, &sum); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", file, err)
			os.Exit(1)
		}
	}
	if work == "pass-records" {
		sum.total = sum.keys
	}
	fmt.Printf("{\"keys\": %d, \"total\": %d}\n", sum.keys, sum.total)
}

func read(work, file string, sum *answer) error {
	var options []gowarc.WarcRecordOption
	if work == "pass-records" {
		options = append(options, gowarc.WithNoValidation())
	}
	reader, err := gowarc.NewWarcFileReader(file, 0, options...)
	if err != nil {
		return err
	}
	defer reader.Close()
	for record, err := range reader.Records() {
		if err != nil {
			return err
		}
		sum.keys++
		if work == "take-blocks" {
			block, err := record.WarcRecord.Block().RawBytes()
			if err != nil {
				return err
			}
			size, err := io.Copy(io.Discard, block)
			if err != nil {
				return err
			}
			sum.total += size
		}
		if err := record.Close(); err != nil {
			return err
		}
	}
	return nil
}
