"""What stands on every page: header, tabs, filter bar, live reload, the runs drawn with this one."""
