"""Workers and servers are killed at random; the site's log and the rows tell what was lost."""
