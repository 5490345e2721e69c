"""Agreement through etcd: thin I/O around the pure parts of the room."""
