"""Static findings sites in which every number links to file, line and digest."""
