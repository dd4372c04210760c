"""The views of the Agreement page, a file each."""
