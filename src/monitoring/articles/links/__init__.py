"""Links between articles of the same blog. In a translation, they lead to translations if these exist."""
