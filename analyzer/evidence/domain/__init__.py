"""What a domain is made of, who holds it, how evenly it works, and what holds it back."""
