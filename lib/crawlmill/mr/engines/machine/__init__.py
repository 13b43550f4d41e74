"""The runners of one machine: `inline` and `local`."""
