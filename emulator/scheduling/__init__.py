"""Schedulers on loopback: one queue of jobs, told as Slurm or Kubernetes tells it."""
