"""All that knows Streamlit: pages, components, and the reader's place. Computes nothing that could be tested without a page."""
