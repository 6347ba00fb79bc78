"""The plain lane's own HTTP/1.1 client: an asyncio protocol at half the CPU of Twisted's client."""
