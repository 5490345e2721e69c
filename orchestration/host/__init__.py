"""The process that people start: takes perceptions in, answers readers, and keeps a mind process running below it."""
