"""Files in and out. The names of columns are the same in every file that is read or written."""
