"""One file a question; the table in `table.py` names them."""
