"""Where everything is kept: the store, the picture files, the runs, files in and out. Imports evaluators, never streamlit."""
