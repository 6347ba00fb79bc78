"""How a page is got: what an answer means, who asks, through which proxy, by which means."""
