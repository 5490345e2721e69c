"""The schema of every call, as the proto files say it: methods, messages, JSON, rules."""
