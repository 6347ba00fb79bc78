"""The plain lane's own HTTP/1.1 client: an asyncio protocol that costs a page half of Twisted's."""
