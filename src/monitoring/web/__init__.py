"""HTTP: how requests come in and replies go out, by what the contract says."""

import warnings

# Connexion 3.3 imports Starlette's test client, which warns about a library of its own. To be deleted when
# Connexion no longer imports it.
warnings.filterwarnings("ignore", message="Using `httpx` with `starlette.testclient`")
