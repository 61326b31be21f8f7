"""HTTP: receives requests and sends replies according to the contract."""

import warnings

# Connexion 3.3 imports Starlette's test client, which warns about one of its libraries. Delete this when
# Connexion no longer imports it.
warnings.filterwarnings("ignore", message="Using `httpx` with `starlette.testclient`")
