"""The pages, one Streamlit script each, listed in `rl_logging_board.py`."""
