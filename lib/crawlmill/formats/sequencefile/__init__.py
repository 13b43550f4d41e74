"""SequenceFiles."""
