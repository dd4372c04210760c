"""Files that hold rows, whatever their format: `open_table` finds out what a file is and streams its rows.

To add a format: write a file with a function `open(source, sheet) -> Table`, and add it to the table in `opening.py`.
"""

from data.exchange.reading import delimited
from data.exchange.reading.opening import open_table
from data.exchange.reading.table import SURPLUS, EmbeddedPictures, Source, Table, TableUnreadable

__all__ = ["SURPLUS", "EmbeddedPictures", "Source", "Table", "TableUnreadable", "delimited", "open_table"]
