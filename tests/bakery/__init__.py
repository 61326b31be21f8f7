"""A small service from another domain. The contract tests serve it, so that they test the contract alone."""
