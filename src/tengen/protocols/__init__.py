"""What programs say to each other: messages and protocols, without any server."""
