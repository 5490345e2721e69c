"""What lines of logs say, and when."""
