"""What `crawlmill doctor emr` checks besides the configuration: network, machines, permissions."""
