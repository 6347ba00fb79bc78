"""Whether a product can be had: what structured data and what visible text says of it."""
