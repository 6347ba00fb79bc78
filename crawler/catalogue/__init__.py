"""What is crawled when: jobs and their coordinator."""
