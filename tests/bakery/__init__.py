"""A small service of another trade: the contract tests serve it, so that they prove the contract alone."""
