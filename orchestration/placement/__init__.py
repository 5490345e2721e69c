"""Where the actors of a mind live when it has several nodes to live on."""
