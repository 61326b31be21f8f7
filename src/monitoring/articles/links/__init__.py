"""Links between articles of the same blog, which lead to the translation if there is one."""
