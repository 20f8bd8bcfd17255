"""What the target touches: streams, harvests of them, and readers that try to use them."""
