"""What is reached from outside: one file for each dialect's routes, and the table of all of them."""
