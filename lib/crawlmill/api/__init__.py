"""What `import crawlmill` offers to programs and notebooks, imported on first use."""
