"""What stands on every page: header, tabs, filter bar, live reload, compared runs."""
