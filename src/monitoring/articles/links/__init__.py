"""Links between articles of the same blog, which lead to the translation where there is one."""
