"""How many pages a listing has."""
