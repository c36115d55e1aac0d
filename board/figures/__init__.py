"""Frames and arrays in, Plotly figures out: one function per chart. Knows nothing of runs, files or Streamlit."""
