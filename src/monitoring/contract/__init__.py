"""The published document as the code sees it: routes, security, validation and errors all come from it."""

import warnings

# Connexion 3.3 imports Starlette's test client, which warns about a library of its own. To be deleted when
# Connexion no longer imports it.
warnings.filterwarnings("ignore", message="Using `httpx` with `starlette.testclient`")
