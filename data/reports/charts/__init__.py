"""The charts of reports as plotly figures, drawn by the pages and inlined in report.html."""
