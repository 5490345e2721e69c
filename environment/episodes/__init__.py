"""What was perceived, to be found again by its words."""
