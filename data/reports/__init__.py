"""What is known of a judge, put together once for the pages, the command line and the export: plain values and words."""
