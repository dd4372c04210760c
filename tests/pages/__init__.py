"""The pages, driven through Streamlit's own test harness."""
