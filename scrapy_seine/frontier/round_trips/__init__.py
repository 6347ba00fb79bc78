"""A worker's side of the frontier: leases come in and endings go out, in few round trips."""
