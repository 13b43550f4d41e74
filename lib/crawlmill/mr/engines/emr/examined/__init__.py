"""What `crawlmill doctor emr` examines besides the configuration: the network, the recipe, the rights."""
