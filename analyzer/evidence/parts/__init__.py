"""What ill links share: who belongs to what, who is ill, which few parts explain it."""
