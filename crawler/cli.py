"""What all of Seine's own commands share."""
