"""PyJWT, without what it never does here: read certificates, and fetch keys from other servers."""

from monitoring.deferred_modules import deferred

with deferred("cryptography.x509", "jwt.jwks_client"):
    import jwt
    from jwt.algorithms import OKPAlgorithm, RSAAlgorithm
    from jwt.utils import base64url_decode, base64url_encode

__all__ = ["OKPAlgorithm", "RSAAlgorithm", "base64url_decode", "base64url_encode", "jwt"]
