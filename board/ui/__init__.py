"""The Streamlit application: `pages` (a folder each) over `frame` (what stands on every page), `shared` (widgets of several pages),
`state` (what a session and its link hold) and `components` (our own, in JavaScript). What is computed stands in `board.analysis`."""
