"""What `crawlmill doctor emr` examines beside the configuration: the network, the recipe, the rights."""
