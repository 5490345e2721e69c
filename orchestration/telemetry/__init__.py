"""What a mind says of its own working: structured logs and metrics."""
