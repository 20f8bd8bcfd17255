"""Models, the accept/reject rule, live speculative decoding and its replay from recorded text."""
