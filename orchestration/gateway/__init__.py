"""Where perceptions come in and readers are answered, over gRPC."""
