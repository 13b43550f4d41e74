"""Jobs: the bases a job derives from, the launcher, the runners."""
