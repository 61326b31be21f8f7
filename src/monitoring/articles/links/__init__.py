"""Links between articles of the same blog.

In a translated page, these links lead to the translations of the linked articles, if there are any.
"""
