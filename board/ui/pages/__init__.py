"""A folder for each page: Streamlit runs the module of its name; the others are its panels."""
