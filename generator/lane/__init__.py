"""One lane through a record: say which registered texts will be touched, and touch no others. Optional."""
