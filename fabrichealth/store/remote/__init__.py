"""What a store on a server is made of: encodings out, answers in, a spool between."""
