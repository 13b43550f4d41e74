"""What `import crawlmill` offers to programs and notebooks; imported when it is first used."""
