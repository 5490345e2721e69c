"""Input from outside, line by line: what a line says, and when it says it was."""
