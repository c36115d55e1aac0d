"""A folder for each page: the module of the same name is what Streamlit runs, the panels and controls of that page are its neighbours."""
